// PoCL, OpenCL on the CPU, as a peer to measure against: the same copy through somebody else's runtime. The library is
// opened at run time, so nothing here links to OpenCL; without the headers at build time, Open() says so.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#if __has_include(<CL/cl.h>)
#define RW_OPENCL_HEADERS 1
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#endif

namespace ropeway::cli {

#ifdef RW_OPENCL_HEADERS

// One in-order queue on the first CPU device of PoCL, and one buffer. Not for several threads at once.
class OpenClPeer {
 public:
  // Null when there is no PoCL on this machine; `why_not` then says what is missing.
  static std::unique_ptr<OpenClPeer> Open(std::string* why_not) {
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      *why_not = "libOpenCL.so.1 cannot be opened (Debian: ocl-icd-libopencl1, pocl-opencl-icd)";
      return nullptr;
    }
    std::unique_ptr<OpenClPeer> peer(new OpenClPeer);
    if (!peer->LoadCalls(library)) {
      *why_not = "libOpenCL.so.1 lacks a call that is needed";
    } else if (!peer->ChooseDevice()) {
      *why_not = "no PoCL CPU device (Debian: pocl-opencl-icd)";
    } else if (!peer->OpenQueue()) {
      *why_not = "PoCL's CPU device does not give a queue";
    } else {
      return peer;
    }
    return nullptr;
  }

  ~OpenClPeer() {
    if (buffer_ != nullptr) calls_.ReleaseMemObject(buffer_);
    if (queue_ != nullptr) calls_.ReleaseCommandQueue(queue_);
    if (context_ != nullptr) calls_.ReleaseContext(context_);
  }
  OpenClPeer(const OpenClPeer&) = delete;
  OpenClPeer& operator=(const OpenClPeer&) = delete;

  const std::string& name() const { return name_; }

  // Replaces the buffer by one of `size_bytes`, every page of it touched.
  void Allocate(size_t size_bytes) {
    if (buffer_ != nullptr) Require(calls_.ReleaseMemObject(buffer_), "clReleaseMemObject");
    cl_int error = CL_SUCCESS;
    buffer_ = calls_.CreateBuffer(context_, CL_MEM_READ_WRITE, size_bytes, nullptr, &error);
    Require(error, "clCreateBuffer");
    const std::vector<char> zeros(size_bytes);
    Write(0, zeros.data(), size_bytes);
    Finish();
  }

  // Asynchronous write of `size_bytes` to `offset` of the buffer.
  void Write(size_t offset, const void* source, size_t size_bytes) {
    Require(calls_.EnqueueWriteBuffer(queue_, buffer_, CL_FALSE, offset, size_bytes, source, 0, nullptr, nullptr), "clEnqueueWriteBuffer");
  }

  // Blocking read, for verification.
  void Read(size_t offset, void* target, size_t size_bytes) {
    Require(calls_.EnqueueReadBuffer(queue_, buffer_, CL_TRUE, offset, size_bytes, target, 0, nullptr, nullptr), "clEnqueueReadBuffer");
  }

  void Finish() { Require(calls_.Finish(queue_), "clFinish"); }

 private:
  struct Calls {
    decltype(&clGetPlatformIDs) GetPlatformIDs;
    decltype(&clGetPlatformInfo) GetPlatformInfo;
    decltype(&clGetDeviceIDs) GetDeviceIDs;
    decltype(&clCreateContext) CreateContext;
    decltype(&clReleaseContext) ReleaseContext;
    decltype(&clCreateCommandQueue) CreateCommandQueue;
    decltype(&clReleaseCommandQueue) ReleaseCommandQueue;
    decltype(&clCreateBuffer) CreateBuffer;
    decltype(&clReleaseMemObject) ReleaseMemObject;
    decltype(&clEnqueueWriteBuffer) EnqueueWriteBuffer;
    decltype(&clEnqueueReadBuffer) EnqueueReadBuffer;
    decltype(&clFinish) Finish;
  };

  OpenClPeer() = default;

  static void Require(cl_int error, const char* call) {
    if (error != CL_SUCCESS) throw std::runtime_error(std::string(call) + " returned " + std::to_string(error));
  }

  template <typename Function>
  static bool Load(void* library, const char* symbol, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, symbol));
    return *function != nullptr;
  }

  bool LoadCalls(void* library) {
    return Load(library, "clGetPlatformIDs", &calls_.GetPlatformIDs) && Load(library, "clGetPlatformInfo", &calls_.GetPlatformInfo) &&
           Load(library, "clGetDeviceIDs", &calls_.GetDeviceIDs) && Load(library, "clCreateContext", &calls_.CreateContext) &&
           Load(library, "clReleaseContext", &calls_.ReleaseContext) && Load(library, "clCreateCommandQueue", &calls_.CreateCommandQueue) &&
           Load(library, "clReleaseCommandQueue", &calls_.ReleaseCommandQueue) && Load(library, "clCreateBuffer", &calls_.CreateBuffer) &&
           Load(library, "clReleaseMemObject", &calls_.ReleaseMemObject) &&
           Load(library, "clEnqueueWriteBuffer", &calls_.EnqueueWriteBuffer) &&
           Load(library, "clEnqueueReadBuffer", &calls_.EnqueueReadBuffer) && Load(library, "clFinish", &calls_.Finish);
  }

  std::string PlatformText(cl_platform_id platform, cl_platform_info what) const {
    char text[256] = {};
    if (calls_.GetPlatformInfo(platform, what, sizeof(text) - 1, text, nullptr) != CL_SUCCESS) return "";
    return text;
  }

  bool ChooseDevice() {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (calls_.GetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < count && i < 16; ++i) {
      if (PlatformText(platforms[i], CL_PLATFORM_NAME) != "Portable Computing Language") continue;
      const std::string version = PlatformText(platforms[i], CL_PLATFORM_VERSION);
      name_ = version.substr(0, version.find("  "));  // the rest lists how it was built
      return calls_.GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device_, nullptr) == CL_SUCCESS;
    }
    return false;
  }

  bool OpenQueue() {
    cl_int error = CL_SUCCESS;
    context_ = calls_.CreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    if (error != CL_SUCCESS) return false;
    queue_ = calls_.CreateCommandQueue(context_, device_, 0, &error);
    return error == CL_SUCCESS;
  }

  Calls calls_ = {};
  std::string name_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem buffer_ = nullptr;
};

#else

// The same face without OpenCL headers: never opens.
class OpenClPeer {
 public:
  static std::unique_ptr<OpenClPeer> Open(std::string* why_not) {
    *why_not = "built without OpenCL headers (Debian: opencl-c-headers)";
    return nullptr;
  }
  std::string name() const { return ""; }
  void Allocate(size_t) {}
  void Write(size_t, const void*, size_t) {}
  void Read(size_t, void*, size_t) {}
  void Finish() {}
};

#endif

}  // namespace ropeway::cli
