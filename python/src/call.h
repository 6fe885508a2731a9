// The heart of the module: Call turns a C function into a Python function by its signature alone. A parameter that
// points to a writable number, enumeration or pointer is an output; every other one is an input, converted by its
// letter of the format. The result is the outputs in C order followed by what the C function returns: flat, and bare
// when there is only one.
#pragma once

#include <string_view>
#include <tuple>

#include "arguments.h"
#include "gil.h"

namespace ropeway::python {

template <typename Parameter, typename Target = std::remove_pointer_t<Parameter>>
inline constexpr bool kIsOutput = std::is_pointer_v<Parameter> && !std::is_const_v<Target> && std::is_scalar_v<Target>;

// The place of one argument between Python and C.
template <typename Parameter>
struct Slot {
  static_assert(!std::is_same_v<Parameter, char*>, "text buffers need a function of their own");
  std::conditional_t<kIsOutput<Parameter>, std::remove_pointer_t<Parameter>, Holder<Parameter>> value{};

  Parameter Pass() {
    if constexpr (kIsOutput<Parameter>) {
      return &value;
    } else {
      return ValueOf(value);
    }
  }
};

// Steals `count` objects: the only one as it is, several as a tuple. Null when one of them is null.
PyObject* Pack(PyObject** objects, size_t count);

template <typename... Objects>
PyObject* Tuple(Objects... objects) {
  PyObject* all[] = {objects...};
  return Pack(all, sizeof...(objects));
}

template <auto kFunction>
struct Signature;

template <typename Return, typename... Parameters, Return (*kFunction)(Parameters...)>
struct Signature<kFunction> {
  static constexpr size_t kInputs = (size_t{0} + ... + !kIsOutput<Parameters>);
  static constexpr size_t kOutputs = sizeof...(Parameters) - kInputs;
  using Slots = std::tuple<Slot<Parameters>...>;

  // How many inputs stand in front of parameter `index`: its place in the Python argument list.
  static constexpr size_t InputIndex(size_t index) {
    constexpr bool outputs[] = {kIsOutput<Parameters>..., false};
    return static_cast<size_t>(std::count(outputs, outputs + index, false));
  }

  template <FixedString kFormat>
  static bool Read(const char* path, Argv argv, Slots& slots) {
    return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      return (ReadOne<kFormat, kIndex, Parameters>(path, argv, std::get<kIndex>(slots)) && ...);
    }
    (std::index_sequence_for<Parameters...>());
  }

  template <FixedString kFormat, size_t kIndex, typename Parameter>
  static bool ReadOne(const char* path, Argv argv, Slot<Parameter>& slot) {
    if constexpr (kIsOutput<Parameter>) {
      return true;
    } else {
      return ConvertAt<kFormat[InputIndex(kIndex)]>(path, InputIndex(kIndex) + 1, argv, slot.value);
    }
  }

  static Return Run(Slots& slots) {
    return std::apply([](auto&... slot) { return kFunction(slot.Pass()...); }, slots);
  }

  static PyObject* Result(const Slots& slots, PyObject* returned) {
    PyObject* objects[kOutputs + 1];
    size_t count = 0;
    std::apply([&](const auto&... slot) { (Collect(slot, objects, &count), ...); }, slots);
    objects[count++] = returned;
    return Pack(objects, count);
  }

  template <typename Parameter>
  static void Collect(const Slot<Parameter>& slot, PyObject** objects, size_t* count) {
    if constexpr (kIsOutput<Parameter>) objects[(*count)++] = ToPython(slot.value);
  }

  using ReturnType = Return;
};

// Messages about a block say who made it and who freed it, so these tell their line whether anybody watches or not.
template <FixedString kPath>
inline constexpr bool kMakesOrFrees = std::string_view(kPath.text).find("malloc") != std::string_view::npos
                                      || std::string_view(kPath.text).find("free") != std::string_view::npos;

// kPath: the full Python name. kFormat: a letter for each input. kNames: how many parameter names are documented.
template <FixedString kPath, auto kFunction, FixedString kFormat, Gil kGil, size_t kNames>
PyObject* Call(PyObject*, Argv argv, Py_ssize_t count) {
  using Target = Signature<kFunction>;
  static_assert(kFormat.size() == static_cast<Py_ssize_t>(Target::kInputs), "one letter for each input of the C function");
  static_assert(kNames == Target::kInputs, "one name for each input of the C function");
  // Functions without arguments ignore what they are given; programs do give them device ids.
  if (kFormat.size() != 0 && count != kFormat.size()) return WrongCount(kPath.text, kFormat.size(), count);
  typename Target::Slots slots;
  if (!Target::template Read<kFormat>(kPath.text, argv, slots)) return nullptr;
  if constexpr (std::is_void_v<typename Target::ReturnType>) {
    Target::Run(slots);
    return None();
  } else {
    return Target::Result(slots, ToPython(RunWith<kGil>([&] { return Target::Run(slots); }, kMakesOrFrees<kPath>)));
  }
}

}  // namespace ropeway::python
