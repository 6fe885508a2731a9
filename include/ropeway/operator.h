/*
 * Operators by stand-in: a host function behind a pair aclnnXxxGetWorkspaceSize and aclnnXxx, as ropeway/kernel.h has them for kernels. Its
 * arguments are the operator's own: tensors, scalars, arrays, lists, numbers and texts. docs/kernels.md has an example.
 */
#ifndef ROPEWAY_OPERATOR_H
#define ROPEWAY_OPERATOR_H

#include "aclnn/acl_meta.h"
#include "ropeway/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * From now on `function` stands in for the operator `name` ("aclnnAdd"), which wants a workspace of that many bytes; NULL: nobody does any
 * more. The function runs as a kernel's stand-in does. launch->args has the arguments: the addresses of containers, which are copies that
 * live as long as the launch, and the values of the others.
 *
 * name NULL or empty: 100000. Another function has the name: 100031. NULL, and nobody has it: 100029.
 */
RW_API aclError ropewayRegisterOperator(const char* name, ropewayKernelFunc function, uint64_t workspaceSize);

typedef enum ropewayArgumentKind {
    ROPEWAY_ARGUMENT_VALUE, /* `size` bytes at `object` */
    ROPEWAY_ARGUMENT_TEXT,
    ROPEWAY_ARGUMENT_TENSOR,
    ROPEWAY_ARGUMENT_SCALAR,
    ROPEWAY_ARGUMENT_INT_ARRAY,
    ROPEWAY_ARGUMENT_FLOAT_ARRAY,
    ROPEWAY_ARGUMENT_BOOL_ARRAY,
    ROPEWAY_ARGUMENT_TENSOR_LIST,
    ROPEWAY_ARGUMENT_SCALAR_LIST
} ropewayArgumentKind;

typedef struct ropewayOperatorArgument {
    ropewayArgumentKind kind;
    const void* object; /* NULL for a container or text that is left out */
    size_t size;
    size_t alignment; /* of a value: 1, 2, 4 or 8 */
} ropewayOperatorArgument;

/*
 * What a pair is made of. The first copies the arguments; the second queues the stand-in with them, and ends the executor unless
 * aclSetAclOpExecutorRepeatable was called.
 *
 * A pointer that is NULL: 161001. An argument or an executor that is none, or another operator's: 161002; so is a workspace that is
 * smaller than was asked for. No stand-in: 207000. Streams as ropewayLaunchKernel has them.
 */
RW_API aclnnStatus ropewayPrepareOperator(const char* name, const ropewayOperatorArgument* arguments, size_t count, uint64_t* workspaceSize,
                                          aclOpExecutor** executor);
RW_API aclnnStatus ropewayRunOperator(const char* name, void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

/* Inside the function: the workspace of the launch, a device address, and its size. */
RW_API void* ropewayKernelWorkspace(const ropewayKernelLaunch* launch, uint64_t* size);

/*
 * Inside the function: where host code reaches a tensor's first element, and all others by its strides. NULL when they are not there, and
 * then the launch has failed.
 */
RW_API void* ropewayTensorView(const ropewayKernelLaunch* launch, const aclTensor* tensor);

/* What containers hold; it is theirs. The number may be asked for by NULL; NULL and 0 for NULL. */
RW_API const int64_t* ropewayTensorShape(const aclTensor* tensor, size_t* count);
RW_API const int64_t* ropewayTensorStrides(const aclTensor* tensor, size_t* count);
RW_API const void* ropewayScalarValue(const aclScalar* scalar, aclDataType* dataType);
RW_API const int64_t* ropewayIntArrayValues(const aclIntArray* array, size_t* count);
RW_API const float* ropewayFloatArrayValues(const aclFloatArray* array, size_t* count);
RW_API const bool* ropewayBoolArrayValues(const aclBoolArray* array, size_t* count);
/* NULL behind the last. */
RW_API const aclTensor* ropewayTensorListItem(const aclTensorList* list, size_t index);
RW_API const aclScalar* ropewayScalarListItem(const aclScalarList* list, size_t index);

#ifdef __cplusplus
}

namespace ropeway {

/*
 * The elements of a tensor that lie one behind the other. NULL when they do not, or are not there; then the launch has failed. Whether the
 * tensor has elements of type T is the stand-in's to know.
 */
template <typename T>
T* Dense(const ropewayKernelLaunch* launch, const aclTensor* tensor, size_t* count) {
    size_t dims = 0;
    const int64_t* const shape = ropewayTensorShape(tensor, &dims);
    const int64_t* const strides = ropewayTensorStrides(tensor, nullptr);
    int64_t elements = 1;
    for (size_t i = dims; i-- > 0;) {
        if (shape[i] != 1 && strides[i] != elements) {
            ropewayFailKernel(launch, "a tensor's elements do not lie one behind the other; the stand-in wants them so");
            return nullptr;
        }
        elements *= shape[i];
    }
    *count = static_cast<size_t>(elements);
    return static_cast<T*>(ropewayTensorView(launch, tensor));
}

/* A scalar as a number, whatever type it was made of; complex ones and floats of less than 32 bits have none: 0. */
inline double NumberOf(const aclScalar* scalar) {
    aclDataType type = ACL_DT_UNDEFINED;
    const void* const value = ropewayScalarValue(scalar, &type);
    if (value == nullptr) return 0;
    switch (type) {
        case ACL_FLOAT: return *static_cast<const float*>(value);
        case ACL_DOUBLE: return *static_cast<const double*>(value);
        case ACL_INT8: return *static_cast<const int8_t*>(value);
        case ACL_INT16: return *static_cast<const int16_t*>(value);
        case ACL_INT32: return *static_cast<const int32_t*>(value);
        case ACL_INT64: return static_cast<double>(*static_cast<const int64_t*>(value));
        case ACL_UINT8: return *static_cast<const uint8_t*>(value);
        case ACL_UINT16: return *static_cast<const uint16_t*>(value);
        case ACL_UINT32: return *static_cast<const uint32_t*>(value);
        case ACL_UINT64: return static_cast<double>(*static_cast<const uint64_t*>(value));
        case ACL_BOOL: return *static_cast<const bool*>(value) ? 1 : 0;
        default: return 0;
    }
}

namespace detail {

template <typename T, typename Container>
struct Is : std::is_convertible<T, const Container*> {};

template <typename T>
constexpr ropewayArgumentKind KindOfArgument() {
    return std::is_same<T, decltype(nullptr)>::value ? ROPEWAY_ARGUMENT_VALUE
           : Is<T, char>::value                      ? ROPEWAY_ARGUMENT_TEXT
           : Is<T, aclTensor>::value                 ? ROPEWAY_ARGUMENT_TENSOR
           : Is<T, aclScalar>::value                 ? ROPEWAY_ARGUMENT_SCALAR
           : Is<T, aclIntArray>::value               ? ROPEWAY_ARGUMENT_INT_ARRAY
           : Is<T, aclFloatArray>::value             ? ROPEWAY_ARGUMENT_FLOAT_ARRAY
           : Is<T, aclBoolArray>::value              ? ROPEWAY_ARGUMENT_BOOL_ARRAY
           : Is<T, aclTensorList>::value             ? ROPEWAY_ARGUMENT_TENSOR_LIST
           : Is<T, aclScalarList>::value             ? ROPEWAY_ARGUMENT_SCALAR_LIST
                                                     : ROPEWAY_ARGUMENT_VALUE;
}

template <typename T>
typename std::enable_if<KindOfArgument<T>() == ROPEWAY_ARGUMENT_VALUE, ropewayOperatorArgument>::type Describe(const T& value) {
    static_assert(std::is_trivially_copyable<T>::value, "arguments of an operator are containers or plain data");
    return {ROPEWAY_ARGUMENT_VALUE, &value, sizeof(T), alignof(T) < 8 ? alignof(T) : 8};
}
template <typename T>
typename std::enable_if<KindOfArgument<T>() != ROPEWAY_ARGUMENT_VALUE, ropewayOperatorArgument>::type Describe(const T& value) {
    return {KindOfArgument<T>(), value, sizeof(void*), sizeof(void*)};
}

template <typename... Arguments>
aclnnStatus PrepareOperator(const char* name, uint64_t* workspace_size, aclOpExecutor** executor, const Arguments&... arguments) {
    const ropewayOperatorArgument described[] = {Describe(arguments)...};
    return ropewayPrepareOperator(name, described, sizeof...(arguments), workspace_size, executor);
}

struct OperatorRegistration {
    OperatorRegistration(const char* name, ropewayKernelFunc function, uint64_t workspace_size) : name_(name) {
        taken_ = ropewayRegisterOperator(name, function, workspace_size) == 0;
    }
    ~OperatorRegistration() {
        if (taken_) static_cast<void>(ropewayRegisterOperator(name_, nullptr, 0));
    }
    OperatorRegistration(const OperatorRegistration&) = delete;
    OperatorRegistration& operator=(const OperatorRegistration&) = delete;

   private:
    const char* name_;
    bool taken_;
};

}  // namespace detail
}  // namespace ropeway

#define ROPEWAY_UNWRAP(...) __VA_ARGS__

/*
 * ROPEWAY_ACLNN(aclnnAdd, (const aclTensor* self, const aclTensor* other, const aclScalar* alpha, aclTensor* out), (self, other, alpha,
 * out)) at namespace scope: defines the pair of functions that programs call.
 */
#define ROPEWAY_ACLNN(name, parameters, arguments)                                                                                \
    extern "C" aclnnStatus name##GetWorkspaceSize(ROPEWAY_UNWRAP parameters, uint64_t* workspaceSize, aclOpExecutor** executor) { \
        return ::ropeway::detail::PrepareOperator(#name, workspaceSize, executor, ROPEWAY_UNWRAP arguments);                      \
    }                                                                                                                             \
    extern "C" aclnnStatus name(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {           \
        return ropewayRunOperator(#name, workspace, workspaceSize, executor, stream);                                             \
    }

/* ROPEWAY_OPERATOR(aclnnAdd, Add, 0) at namespace scope: Add stands in for aclnnAdd. Its first parameter is the launch, the others are the
 * operator's own. */
#define ROPEWAY_OPERATOR(name, function, workspaceSize)                           \
    static const ::ropeway::detail::OperatorRegistration ropeway_operator_##name( \
        #name, &::ropeway::detail::TypedKernel<decltype(&function), &function>::Run, workspaceSize)
#endif

#endif /* ROPEWAY_OPERATOR_H */
