// Aligned plain text, and the few ways in which the command writes quantities.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace ropeway::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

// Whether somebody looks: a terminal that can be drawn on, and NO_COLOR (no-color.org) is not set.
bool OnTerminal(std::FILE* out);

// Rows are printed at once by Print(), each column as wide as its widest cell. On a terminal verdicts have colours.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end of a row stay empty.
  void AddRow(std::vector<std::string> cells);
  void Print(std::FILE* out) const;

 private:
  void PrintRow(std::FILE* out, const std::vector<std::string>& cells, const std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// printf into a string.
std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

std::string FormatBytes(size_t bytes);            // "4 KiB", "1 GiB", "100 B"; not rounded beyond one decimal
std::string FormatSeconds(double seconds);        // "27 ns", "3.4 us", "12 ms"
std::string FormatGigabytes(double bytes_per_s);  // "13.7" (GB/s, 10^9)

}  // namespace ropeway::cli
