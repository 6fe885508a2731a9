#include "check/findings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "check/options.h"
#include "check/tally.h"

namespace ropeway::check {
namespace {

Tally* OpenTally() {
  const char* const number = std::getenv(kTallyVariable);
  if (number == nullptr) return nullptr;
  void* const page = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(number), 0);
  return page == MAP_FAILED ? nullptr : static_cast<Tally*>(page);
}

// Opened when the layer is loaded: the program may close what it does not know.
Tally* const tally = OpenTally();
const bool counted = tally != nullptr && ++tally->loaded > 0;

int OutputDescriptor() {
  static const int descriptor = [] {
    const std::string& path = GetOptions().output;
    const int file = path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return file < 0 ? STDERR_FILENO : file;
  }();
  return descriptor;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char one : text) {
    if (one == '"' || one == '\\') quoted += '\\';
    if (static_cast<unsigned char>(one) < 0x20)
      quoted += ' ';
    else
      quoted += one;
  }
  return quoted + "\"";
}

std::string JsonOf(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? "," : "") + Quoted(text);
  return list + "]";
}

std::string JsonOf(const Finding& finding) {
  const RuleText& rule = TextOf(finding.rule);
  std::string parties;
  for (const Party& party : finding.parties)
    parties += std::string(parties.empty() ? "" : ",") + "{\"call\":" + Quoted(party.call) + ",\"location\":" + Quoted(party.location) +
               ",\"where\":" + Quoted(party.where) + ",\"stack\":" + JsonOf(party.stack) + "}";
  return std::string("{\"rule\":") + Quoted(rule.id) + ",\"error\":" + (rule.fails ? "true" : "false") +
         ",\"title\":" + Quoted(rule.title) + ",\"text\":" + JsonOf(finding.lines) + ",\"operations\":[" + parties +
         "],\"fix\":" + Quoted(rule.fix) + ",\"pid\":" + std::to_string(getpid()) + "}\n";
}

std::string PrintedText(const Finding& finding) {
  const RuleText& rule = TextOf(finding.rule);
  std::ostringstream text;
  const std::string margin(6, ' ');
  text << rule.word << std::string(rule.word[4] == '\0' ? 2 : 1, ' ') << rule.id << "  ";
  for (size_t i = 0; i < finding.lines.size(); ++i) text << (i == 0 ? "" : margin) << finding.lines[i] << "\n";
  for (const Party& party : finding.parties) {
    if (party.stack.empty()) continue;
    text << margin << party.call << ":\n";
    for (const std::string& frame : party.stack) text << margin << "  " << frame << "\n";
  }
  text << margin << "fix: " << rule.fix << "     docs/check/" << rule.id << ".md\n";
  return text.str();
}

}  // namespace

bool Findings::Add(Rule rule, uint32_t one, uint32_t other) {
  const bool added = ++counts_[{rule, one, other}] == 1 || GetOptions().every;
  if (!added) ++repeated_;
  return added;
}

// Lines "RW-RACE-001 kv.cpp:91": the rule, or *, and a part of any location of the finding. # begins a comment.
bool Findings::Suppressed(const Finding& finding) {
  if (!suppressions_read_) {
    suppressions_read_ = true;
    std::ifstream file(GetOptions().suppress);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      std::string rule, site;
      if (words >> rule) {
        words >> site;
        suppressions_.emplace_back(rule, site);
      }
    }
  }
  for (const auto& [rule, site] : suppressions_) {
    if (rule != "*" && rule != TextOf(finding.rule).id) continue;
    for (const Party& party : finding.parties)
      if (site.empty() || (party.location + " " + party.call).find(site) != std::string::npos) return true;
  }
  return false;
}

void Findings::Write(const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(OutputDescriptor(), text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += static_cast<size_t>(written);
  }
}

void Findings::Tell(const Finding& finding) {
  if (Suppressed(finding)) return;
  if (TextOf(finding.rule).fails) ++errors_;
  if (tally != nullptr) ++(TextOf(finding.rule).fails ? tally->errors : tally->tips);
  Write(GetOptions().json ? JsonOf(finding) : PrintedText(finding));
}

void Findings::TellCounts() {
  if (repeated_ != 0 && !GetOptions().json)
    Write("ropeway check: the same came " + std::to_string(repeated_) + " more times from the same places\n");
}

}  // namespace ropeway::check
