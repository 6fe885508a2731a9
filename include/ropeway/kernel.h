/*
 * Kernels by stand-in: a host function under a kernel's name. Device code cannot run here; what a program launches under that name
 * (aclrtLaunchKernel and its kin, aclrtlaunch_<kernel>, ropewayLaunchKernel) becomes a task of the stream that calls the function.
 * docs/kernels.md ports a kernel step by step.
 */
#ifndef ROPEWAY_KERNEL_H
#define ROPEWAY_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "acl/detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One launch, while its function runs. */
typedef struct ropewayKernelLaunch {
    const char* name;   /* as registered */
    uint32_t numBlocks; /* at least 1; the function is called once and does the work of all of them */
    int32_t device;
    const void* args; /* the launch's arguments, one behind the other, each aligned as its type wants it (8 bytes at most) */
    size_t argsSize;
} ropewayKernelLaunch;

/*
 * Runs in the stream's order, on a thread of the context, one kernel of a context at a time; a captured one at every replay. It may
 * call nothing of the API but what is below. An exception that leaves it ends the process.
 */
typedef void (*ropewayKernelFunc)(const ropewayKernelLaunch* launch);

/*
 * From now on `function` stands in for the kernel `name`, for all binaries; NULL: nobody does any more. What is queued already keeps what
 * it has. Needs no device, so that static constructors may call it.
 *
 * name NULL or empty: 100000. Another function has the name: 100031. NULL, and nobody has it: 100029.
 */
RW_API aclError ropewayRegisterKernel(const char* name, ropewayKernelFunc function);

/* One parameter of a kernel. Each lies behind the one before it, aligned. */
typedef struct ropewayKernelParameter {
    size_t size;
    size_t alignment; /* 1, 2, 4 or 8 */
} ropewayKernelParameter;

/*
 * What parameters the kernel has, for launches that bring an array of addresses (aclrtLaunchKernelWithArgsArray) and for programs that ask
 * (aclrtFunctionGetParamCount). ROPEWAY_KERNEL says it by itself. Goes with the stand-in.
 *
 * name NULL or empty, parameters NULL with a count, a size of 0, another alignment: 100000. No stand-in of that name: 100029.
 */
RW_API aclError ropewayDescribeKernel(const char* name, const ropewayKernelParameter* parameters, size_t count);

/*
 * Inside the function: where host code reaches [devPtr, devPtr + size), until the function returns. Device memory of any engine, registered
 * and pinned host memory, managed memory, and data that came with the arguments. Where the host cannot reach device memory (a GPU), it
 * is a copy that is written back behind the function; then two views may not overlap unless the later lies in the earlier.
 *
 * NULL when there is no such memory: the function should return, and the stream has 507015 with the reason.
 */
RW_API void* ropewayKernelView(const ropewayKernelLaunch* launch, const void* devPtr, size_t size);

/* How a launch is laid out: blocks of the grid in three directions, and threads of a block where it is a SIMT kernel (else 1, 1, 1). */
typedef struct ropewayKernelShape {
    uint32_t grid[3]; /* numBlocks, 1, 1 unless the launch says otherwise */
    uint32_t block[3];
    size_t dynamicBytes; /* of on-chip memory that the launch asks for */
} ropewayKernelShape;

/* Inside the function: the shape of the launch; nothing happens where one of the two is NULL. */
RW_API void ropewayKernelGetShape(const ropewayKernelLaunch* launch, ropewayKernelShape* shape);

/* Inside the function: the launch has failed. The stream has 507015 with this text; the first one counts. */
RW_API void ropewayFailKernel(const ropewayKernelLaunch* launch, const char* text);

/*
 * Queues the stand-in of that name. args may be NULL when argsSize is 0; host memory is copied during the call, device memory is read when
 * the task runs.
 *
 * name NULL, or args NULL: 100000. No stand-in: 507027. numBlocks 0: 107000. A stream that is not alive: 107017; NULL for the default
 * stream.
 */
RW_API aclError ropewayLaunchKernel(const char* name, uint32_t numBlocks, const void* args, size_t argsSize, void* stream);

#ifdef __cplusplus
}

#include <string.h>

#include <type_traits>

namespace ropeway {

/* Reads arguments one after the other. */
class KernelArguments {
   public:
    explicit KernelArguments(const ropewayKernelLaunch* launch) : launch_(launch) {}
    template <typename T>
    T Next() {
        static_assert(std::is_trivially_copyable<T>::value, "arguments of a kernel are plain data");
        const size_t alignment = alignof(T) < 8 ? alignof(T) : 8;
        const size_t at = (offset_ + alignment - 1) / alignment * alignment;
        offset_ = at + sizeof(T);
        T value = T();
        if (offset_ <= launch_->argsSize)
            memcpy(&value, static_cast<const char*>(launch_->args) + at, sizeof(T));
        else
            ropewayFailKernel(launch_, "the launch has fewer bytes of arguments than the stand-in takes");
        return value;
    }
    bool complete() const { return offset_ <= launch_->argsSize; }

   private:
    const ropewayKernelLaunch* launch_;
    size_t offset_ = 0;
};

/* `count` elements behind a device address, for host code; NULL when they are not there, and then the launch has failed. */
template <typename T>
T* View(const ropewayKernelLaunch* launch, T* address, size_t count) {
    return static_cast<T*>(
        ropewayKernelView(launch, const_cast<const void*>(static_cast<const volatile void*>(address)), count * sizeof(T)));
}

namespace detail {

template <typename Function, Function function>
struct TypedKernel;

/* Calls a function that has its arguments as parameters. They are read in their order, which only a braced list promises. */
template <typename... Parameters, void (*function)(const ropewayKernelLaunch*, Parameters...)>
struct TypedKernel<void (*)(const ropewayKernelLaunch*, Parameters...), function> {
    template <typename T>
    struct Held {
        T value;
        Held(KernelArguments& arguments) : value(arguments.Next<T>()) {}
    };
    struct Call {
        Call(const ropewayKernelLaunch* launch, const KernelArguments& arguments, Held<typename std::decay<Parameters>::type>... held) {
            if (arguments.complete()) function(launch, held.value...);
        }
    };
    static const size_t kParameters = sizeof...(Parameters);
    static const ropewayKernelParameter* Described() {
        static const ropewayKernelParameter all[kParameters + 1] = {
            {sizeof(typename std::decay<Parameters>::type),
             alignof(typename std::decay<Parameters>::type) < 8 ? alignof(typename std::decay<Parameters>::type) : 8}...,
            {0, 0}};
        return all;
    }
    static void Run(const ropewayKernelLaunch* launch) {
        KernelArguments arguments(launch);
        Call{launch, arguments, Held<typename std::decay<Parameters>::type>(arguments)...};
    }
};

/* Registers at the start of the program, or when a library is loaded, and takes it back at the end. */
struct KernelRegistration {
    KernelRegistration(const char* name, ropewayKernelFunc function) : name_(name) { taken_ = ropewayRegisterKernel(name, function) == 0; }
    KernelRegistration(const char* name, ropewayKernelFunc function, const ropewayKernelParameter* parameters, size_t count)
        : KernelRegistration(name, function) {
        if (taken_) static_cast<void>(ropewayDescribeKernel(name, parameters, count));
    }
    ~KernelRegistration() {
        if (taken_) static_cast<void>(ropewayRegisterKernel(name_, nullptr));
    }
    KernelRegistration(const KernelRegistration&) = delete;
    KernelRegistration& operator=(const KernelRegistration&) = delete;

   private:
    const char* name_;
    bool taken_;
};

}  // namespace detail
}  // namespace ropeway

/*
 * ROPEWAY_KERNEL(add_custom, AddCustom) at namespace scope: AddCustom stands in for the kernel add_custom. Its first parameter is the
 * launch, the others are the kernel's own.
 */
#define ROPEWAY_KERNEL(kernel, function)                                               \
    static const ::ropeway::detail::KernelRegistration ropeway_kernel_##kernel(        \
        #kernel, &::ropeway::detail::TypedKernel<decltype(&function), &function>::Run, \
        ::ropeway::detail::TypedKernel<decltype(&function), &function>::Described(),   \
        ::ropeway::detail::TypedKernel<decltype(&function), &function>::kParameters + 0)
#endif

#endif /* ROPEWAY_KERNEL_H */
