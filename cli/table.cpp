// Column widths and number formats; see table.h.
#include "cli/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <iterator>

namespace ropeway::cli {
namespace {

constexpr const char* kRed = "\x1b[31m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kYellow = "\x1b[33m";

struct Verdict {
  const char* word;
  const char* colour;
};
constexpr Verdict kVerdicts[] = {
    {"ok", kGreen}, {"pass", kGreen}, {"pass, aim met", kGreen}, {"yes", kGreen}, {"better", kGreen}, {"note", kYellow}, {"problem", kRed},
    {"FAIL", kRed}, {"NO", kRed},     {"worse", kRed},
};

std::string Painted(const std::string& cell) {
  const auto* verdict = std::find_if(std::begin(kVerdicts), std::end(kVerdicts), [&](const Verdict& one) { return cell == one.word; });
  return verdict == std::end(kVerdicts) ? cell : verdict->colour + cell + "\x1b[0m";
}

}  // namespace

bool OnTerminal(std::FILE* out) {
  const char* terminal = std::getenv("TERM");
  const char* plain = std::getenv("NO_COLOR");
  return isatty(fileno(out)) != 0 && (plain == nullptr || *plain == '\0') && (terminal == nullptr || std::string(terminal) != "dumb");
}

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::PrintRow(std::FILE* out, const std::vector<std::string>& cells, const std::vector<size_t>& widths) const {
  const bool colours = OnTerminal(out);
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string padding(widths[i] - cells[i].size(), ' ');
    if (i > 0) line += "  ";
    const std::string cell = colours ? Painted(cells[i]) : cells[i];
    line += columns_[i].align == Align::kLeft ? cell + padding : padding + cell;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  std::fprintf(out, "%s\n", line.c_str());
}

void Table::Print(std::FILE* out) const {
  std::vector<size_t> widths;
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const bool titled = std::any_of(titles.begin(), titles.end(), [](const std::string& title) { return !title.empty(); });
  if (titled) PrintRow(out, titles, widths);
  for (const auto& row : rows_) PrintRow(out, row, widths);
}

std::string Format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string FormatBytes(size_t bytes) {
  static const char* const kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<size_t>(value));
  return Format(whole ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
}

std::string FormatSeconds(double seconds) {
  struct Unit {
    double size;
    const char* name;
  };
  static constexpr Unit kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  for (const Unit& unit : kUnits) {
    const double value = seconds / unit.size;
    if (value < 1 && unit.size > 1e-9) continue;
    return Format(value < 9.95 ? "%.2f %s" : value < 99.5 ? "%.1f %s" : "%.0f %s", value, unit.name);
  }
  return "0 ns";
}

std::string FormatGigabytes(double bytes_per_s) { return Format("%.1f", bytes_per_s / 1e9); }

}  // namespace ropeway::cli
