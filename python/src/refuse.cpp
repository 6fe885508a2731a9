#include "refuse.h"

#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "acl/acl.h"
#include "call.h"

namespace ropeway::python {
namespace {

// A program that never asks for its error texts must not grow by them.
constexpr size_t kMaxBytes = 8192;

std::string& Texts() {
  thread_local std::string texts;
  return texts;
}

bool FitsClass(char letter, PyObject* object) {
  switch (letter) {
    case 'l': return PyList_Check(object);
    case 'd': return PyDict_Check(object);
    case 'c': return PyCallable_Check(object);
    case 'O': return true;
    case 'S': {
      Text text;
      return Convert<'S'>(object, text);
    }
    case 'F': {
      float number;
      return Convert<'F'>(object, number);
    }
    case 'I': {
      int32_t number;
      return Convert<'I'>(object, number);
    }
    case 'L': {
      int64_t number;
      return Convert<'L'>(object, number);
    }
    default: {
      uint64_t number;
      return Convert<'P'>(object, number);
    }
  }
}

bool FitsFormat(const char* path, std::string_view format, Argv argv, Py_ssize_t count) {
  if (format.empty()) return true;
  const bool open_ended = format.back() == '*';
  if (open_ended) format.remove_suffix(1);
  size_t required = format.find('|');
  std::string letters(format);
  if (required == std::string_view::npos) {
    required = format.size();
  } else {
    letters.erase(required, 1);
  }
  const auto given = static_cast<size_t>(count);
  if (given < required || (!open_ended && given > letters.size()))
    return WrongCount(path, static_cast<Py_ssize_t>(letters.size()), count) != nullptr;
  for (size_t i = 0; i < given && i < letters.size(); ++i) {
    if (!FitsClass(letters[i], argv[i])) return WrongArgument(path, i + 1) != nullptr;
  }
  return true;
}

// What stands for one item of the result when nothing came of the call.
PyObject* EmptyResult(std::string_view item) {
  auto says = [item](const char* word) { return item.find(word) != std::string_view::npos; };
  if (item == "ret") return ToPython(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  if (says("None")) return None();
  if (says("str")) return ToPython("");
  if (says("dict")) return PyDict_New();
  if (says("list")) return PyList_New(0);
  if (says("float")) return ToPython(0.0F);
  return ToPython(0);
}

}  // namespace

int Fail(const char* path, int code, const std::string& text) {
  const char* name = code == ACL_ERROR_INVALID_PARAM ? "EH0001: [PID: %d] ACL_ERROR_INVALID_PARAM (%d)\n        "
                                                     : "EE1001: [PID: %d] ACL_ERROR_RT_FEATURE_NOT_SUPPORT (%d)\n        ";
  char head[128];
  snprintf(head, sizeof(head), name, getpid(), code);
  std::string& texts = Texts();
  texts.insert(0, head + (path + (": " + text + "\n")));
  if (texts.size() > kMaxBytes) texts.resize(kMaxBytes);
  return code;
}

std::string TakeTexts() { return std::exchange(Texts(), std::string()); }

PyObject* Refuse(const char* path, const char* format, const char* returns, const char* why, Argv argv, Py_ssize_t count) {
  if (!FitsFormat(path, format, argv, count)) return nullptr;
  Fail(path, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, why);
  std::string_view items = returns;
  if (items.front() == '(') items = items.substr(1, items.size() - 2);
  constexpr size_t kMaxItems = 8;
  PyObject* objects[kMaxItems];
  size_t filled = 0;
  while (filled < kMaxItems) {
    const size_t end = items.find(", ");
    objects[filled++] = EmptyResult(items.substr(0, end));
    if (end == std::string_view::npos) break;
    items.remove_prefix(end + 2);
  }
  return Pack(objects, filled);
}

}  // namespace ropeway::python
