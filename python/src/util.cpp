// acl.util: addresses of Python objects, and Python objects over addresses. NumPy is used through Python calls and
// imported when one of its functions is first called, so the module needs no NumPy to be built or loaded.
#include "tables.h"

namespace ropeway::python {
namespace {

constexpr int kWritableMemory = 0x200;  // PyBUF_WRITE, which the limited API names from 3.11 on only

bool Warn(const char* text) { return PyErr_WarnEx(PyExc_Warning, text, 1) == 0; }

// NumPy's name for each of its C type numbers.
const char* DtypeOf(int number) {
  constexpr const char* kByNumber[] = {"?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d", "g", "F", "D"};
  constexpr int kHalf = 23;
  if (number == kHalf) return "e";
  return number >= 0 && number < static_cast<int>(std::size(kByNumber)) ? kByNumber[number] : nullptr;
}

Reference NumpyAttribute(const char* name) {
  Reference numpy(PyImport_ImportModule("numpy"));
  return numpy ? Reference(PyObject_GetAttrString(numpy.get(), name)) : Reference();
}

bool RequireArray(const char* path, PyObject* object) {
  Reference type = NumpyAttribute("ndarray");
  if (!type) return false;
  const int is_array = PyObject_IsInstance(object, type.get());
  if (is_array == 0) PyErr_Format(PyExc_ValueError, "%s: a numpy.ndarray is wanted", path);
  return is_array == 1;
}

// 1, 0, or -1 with an error set.
int IsContiguous(PyObject* array) {
  Reference flags(PyObject_GetAttrString(array, "flags"));
  if (!flags) return -1;
  Reference contiguous(PyObject_GetAttrString(flags.get(), "c_contiguous"));
  return contiguous ? PyObject_IsTrue(contiguous.get()) : -1;
}

// The address of the first element; null with an error set.
PyObject* AddressOfArray(PyObject* array) {
  Reference interface(PyObject_GetAttrString(array, "__array_interface__"));
  if (!interface) return nullptr;
  PyObject* data = PyDict_GetItemString(interface.get(), "data");  // (address, read only)
  PyObject* address = data == nullptr ? nullptr : PyTuple_GetItem(data, 0);
  Py_XINCREF(address);
  return address;
}

PyObject* NumpyToPtr(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.util.numpy_to_ptr";
  PyObject* array;
  if (!ReadArguments<"O">(kPath, argv, count, array)) return nullptr;
  if (!Warn("acl.util.numpy_to_ptr will be deprecated; use acl.util.bytes_to_ptr")) return nullptr;
  if (!RequireArray(kPath, array)) return nullptr;
  const int contiguous = IsContiguous(array);
  if (contiguous < 0) return nullptr;
  if (contiguous == 0 && !Warn("acl.util.numpy_to_ptr: the array is not contiguous; a copy from its address takes wrong bytes"))
    return nullptr;
  return AddressOfArray(array);
}

PyObject* NumpyContiguousToPtr(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.util.numpy_contiguous_to_ptr";
  PyObject* array;
  if (!ReadArguments<"O">(kPath, argv, count, array)) return nullptr;
  if (!Warn("acl.util.numpy_contiguous_to_ptr will be deprecated; use acl.util.bytes_to_ptr")) return nullptr;
  if (!RequireArray(kPath, array)) return nullptr;
  const int contiguous = IsContiguous(array);
  if (contiguous < 0) return nullptr;
  Reference flat = Reference::Share(array);
  if (contiguous == 0) {
    Reference copy(PyObject_GetAttrString(array, "copy"));  // in C order, as the method has it by default
    flat = Reference(copy ? PyObject_CallFunctionObjArgs(copy.get(), nullptr) : nullptr);
  }
  if (!flat) return nullptr;
  Reference address(AddressOfArray(flat.get()));
  return Tuple(address.release(), flat.release());
}

// Bytes of a C array of this shape; false with an error set.
bool SizeOfShape(const char* path, PyObject* shape, size_t item_size, size_t* bytes) {
  if (!PyTuple_Check(shape)) {
    PyErr_Format(PyExc_ValueError, "%s: the shape must be a tuple", path);
    return false;
  }
  *bytes = item_size;
  for (Py_ssize_t i = 0; i < PyTuple_Size(shape); ++i) {
    const Py_ssize_t length = PyNumber_AsSsize_t(PyTuple_GetItem(shape, i), PyExc_OverflowError);
    if (Failed(length == -1)) return WrongArgument(path, 2) != nullptr;
    if (length < 0 || __builtin_mul_overflow(*bytes, static_cast<size_t>(length), bytes) || *bytes > PY_SSIZE_T_MAX) {
      PyErr_Format(PyExc_ValueError, "%s: the shape has an impossible size", path);
      return false;
    }
  }
  return true;
}

PyObject* PtrToNumpy(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.util.ptr_to_numpy";
  char* pointer;
  PyObject* shape;
  int number;
  if (!ReadArguments<"POI">(kPath, argv, count, pointer, shape, number)) return nullptr;
  if (!Warn("acl.util.ptr_to_numpy will be deprecated; use acl.util.ptr_to_bytes")) return nullptr;
  const char* name = DtypeOf(number);
  if (name == nullptr || pointer == nullptr) {
    PyErr_Format(PyExc_ValueError, "%s: %s", kPath, name == nullptr ? "npy_type is not a type number" : "ptr is null");
    return nullptr;
  }
  Reference make_dtype = NumpyAttribute("dtype");
  Reference text(ToPython(name));
  Reference dtype(make_dtype && text ? PyObject_CallFunctionObjArgs(make_dtype.get(), text.get(), nullptr) : nullptr);
  Reference item_size(dtype ? PyObject_GetAttrString(dtype.get(), "itemsize") : nullptr);
  size_t bytes;
  if (!item_size || !SizeOfShape(kPath, shape, PyLong_AsSize_t(item_size.get()), &bytes)) return nullptr;
  Reference memory(PyMemoryView_FromMemory(pointer, static_cast<Py_ssize_t>(bytes), kWritableMemory));
  Reference make_array = NumpyAttribute("ndarray");
  if (!memory || !make_array) return nullptr;
  return PyObject_CallFunctionObjArgs(make_array.get(), shape, dtype.get(), memory.get(), nullptr);
}

PyObject* BytesToPtr(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.util.bytes_to_ptr";
  PyObject* bytes;
  if (!ReadArguments<"O">(kPath, argv, count, bytes)) return nullptr;
  if (!PyBytes_Check(bytes)) {
    PyErr_Format(PyExc_ValueError, "%s: bytes are wanted", kPath);
    return nullptr;
  }
  return ToPython(static_cast<void*>(PyBytes_AsString(bytes)));
}

PyObject* PtrToBytes(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.util.ptr_to_bytes";
  const char* pointer;
  size_t size;
  if (!ReadArguments<"PP">(kPath, argv, count, pointer, size)) return nullptr;
  if (size > PY_SSIZE_T_MAX || (pointer == nullptr && size > 0)) {
    PyErr_Format(PyExc_ValueError, "%s: %s", kPath, pointer == nullptr ? "ptr is null" : "size is impossible");
    return nullptr;
  }
  return PyBytes_FromStringAndSize(size == 0 ? "" : pointer, static_cast<Py_ssize_t>(size));
}

}  // namespace

Table kUtilFunctions[] = {
    RW_SPECIAL("acl.util.numpy_to_ptr", &NumpyToPtr, "array: NDArray, /", "addr",
               "The address of an array's first element. Keep the array alive yourself. Deprecated: warns."),
    RW_SPECIAL("acl.util.numpy_contiguous_to_ptr", &NumpyContiguousToPtr, "array: NDArray, /", "(addr, array)",
               "The address of a contiguous array, and that array: the same one, or a copy to keep alive. Deprecated: warns."),
    RW_SPECIAL("acl.util.ptr_to_numpy", &PtrToNumpy, "ptr, shape: tuple[int, ...], npy_type, /", "ndarray",
               "An array over host memory, without a copy. shape is a tuple, npy_type a NumPy type number. Deprecated: "
               "warns."),
    RW_SPECIAL("acl.util.bytes_to_ptr", &BytesToPtr, "data: bytes, /", "addr",
               "The address of the buffer inside a bytes object. Keep the object alive yourself."),
    RW_SPECIAL("acl.util.ptr_to_bytes", &PtrToBytes, "ptr, size, /", "bytes", "A copy of host memory as bytes."),
    {}};

}  // namespace ropeway::python
