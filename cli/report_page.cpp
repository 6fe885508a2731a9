// Puts the data into the template; see report_page.h.
#include "cli/report_page.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "cli/page_columns.h"
#include "cli/page_template.h"
#include "ropeway/ropeway.h"

namespace ropeway::cli {
namespace {

using Json = nlohmann::ordered_json;

Json FindingsOf(const TraceData& trace, const Answer& answer) {
  Json list = Json::array();
  for (const Finding& finding : answer.findings) {
    list.push_back({{"pattern", finding.pattern},
                    {"cost", finding.cost_ns},
                    {"what", finding.what},
                    {"where", SiteName(trace, finding.site)},
                    {"fix", finding.fix},
                    {"begin", finding.begin_ns},
                    {"end", finding.end_ns}});
  }
  return list;
}

Json CheckerFindings(const std::string& lines) {
  Json list = Json::array();
  std::istringstream in(lines);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Json finding = Json::parse(line, nullptr, false);
    if (!finding.is_object() || !finding.contains("rule"))
      throw std::invalid_argument("line " + std::to_string(number) + " is not a finding of ropeway check --json");
    list.push_back(std::move(finding));
  }
  return list;
}

Json Tables(const TraceData& trace) {
  Json processes = Json::array(), threads = Json::array(), streams = Json::array(), sites = Json::array();
  for (const TraceProcess& process : trace.processes)
    processes.push_back({{"pid", process.pid},
                         {"rank", process.rank},
                         {"host", process.host},
                         {"program", process.program},
                         {"engine", process.engine},
                         {"dropped", process.dropped}});
  for (const TraceThread& thread : trace.threads)
    threads.push_back({{"process", thread.process}, {"tid", thread.tid}, {"name", thread.name}, {"lane", thread.lane}});
  for (const TraceStream& stream : trace.streams)
    streams.push_back({{"process", stream.process}, {"id", stream.id}, {"device", stream.device}});
  for (uint32_t i = 0; i < trace.sites.size(); ++i) sites.push_back({SiteName(trace, i), trace.sites[i].function});
  return {{"processes", processes}, {"threads", threads}, {"streams", streams}, {"sites", sites}, {"names", trace.names}};
}

Json FiguresOf(const PageFigures& figures) {
  Json columns = Json::array();
  for (const PageFigures::Column& column : figures.columns) columns.push_back({column.title, column.right});
  return {{"title", figures.title}, {"words", figures.words}, {"columns", columns}, {"rows", figures.rows}};
}

Json ColumnsOf(const std::vector<PageColumn>& columns) {
  Json list = Json::array();
  for (const PageColumn& column : columns) list.push_back({column.name, column.differences, column.count, column.bytes.size()});
  return list;
}

// Inside of a script element, "</" would end it.
std::string ForScript(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

std::string MakePage(const TraceData& trace, const Answer& answer, const std::string& findings, const PageFigures& figures) {
  const std::vector<PageColumn> columns = PageColumns(trace);
  Json meta = {{"ropeway", ropewayGetVersion()},
               {"end", trace.end_ns},
               {"limit", answer.limit},
               {"summary", answer.summary},
               {"notes", answer.notes},
               {"words", Words(trace, answer)},
               {"findings", FindingsOf(trace, answer)},
               {"checked", CheckerFindings(findings)},
               {"figures", FiguresOf(figures)},
               {"columns", ColumnsOf(columns)}};
  meta.update(Tables(trace));
  std::string page(kPageBeforeMeta);
  page += ForScript(meta);
  page += kPageBeforeData;
  page += Base64(columns);
  page += kPageEnd;
  return page;
}

void WritePageFile(const std::string& path, const std::string& page, std::FILE* say) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << page;
  out.close();
  if (!out.good()) throw std::runtime_error(path + " cannot be written: " + std::strerror(errno));
  std::fprintf(say, "page: %s\n", path.c_str());
}

}  // namespace ropeway::cli
