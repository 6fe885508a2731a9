#include "base/fault_rules.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/parse.h"

namespace ropeway {
namespace {

constexpr int kConnectionLost = 507901;  // ACL_ERROR_RT_SOCKET_CLOSE
constexpr int kMostCode = 999999;

constexpr unsigned Bit(FaultKind kind) { return 1u << static_cast<unsigned>(kind); }
constexpr unsigned kEach = ~0u;
constexpr unsigned kTasks = Bit(FaultKind::kFail) | Bit(FaultKind::kDelay);

template <typename Number>
bool PutNumber(std::string_view value, uint64_t low, uint64_t high, Number* number) {
  const std::optional<uint64_t> parsed = ParseNumber<uint64_t>(value);
  if (!parsed || *parsed < low || *parsed > high) return false;
  *number = static_cast<Number>(*parsed);
  return true;
}
bool PutCode(std::string_view value, FaultRule* rule) { return PutNumber(value, 1, kMostCode, &rule->code); }

bool PutSize(std::string_view value, uint64_t* size) {
  const std::optional<double> bytes = ParseBytes(value);
  if (!bytes || *bytes >= 0x1p64) return false;
  *size = static_cast<uint64_t>(*bytes);
  return true;
}

bool PutSizes(std::string_view value, FaultRule* rule) {
  const size_t dots = value.find("..");
  if (dots == std::string_view::npos) return PutSize(value, &rule->least);
  return PutSize(value.substr(0, dots), &rule->least) && PutSize(value.substr(dots + 2), &rule->most) && rule->least <= rule->most;
}

struct TimeUnit {
  std::string_view name;
  double ns;
};
constexpr TimeUnit kTimeUnits[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr double kMostDelay = 3600e9;

bool PutDelay(std::string_view value, FaultRule* rule) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (!value.ends_with(unit.name)) continue;
    const std::optional<double> number = ParseNumber<double>(value.substr(0, value.size() - unit.name.size()));
    if (!number || !(*number > 0 && *number * unit.ns <= kMostDelay)) return false;
    rule->delay_ns = static_cast<int64_t>(std::ceil(*number * unit.ns));
    return true;
  }
  return false;
}

bool PutChance(std::string_view value, FaultRule* rule) {
  const std::optional<double> number = ParseNumber<double>(value);
  if (!number || !(*number >= 0 && *number <= 1)) return false;
  rule->chance = *number;
  return true;
}

bool PutSeed(std::string_view value, FaultRule* rule) {
  uint64_t seed;
  if (!PutNumber(value, 0, UINT64_MAX, &seed)) return false;
  rule->dice.seed(seed);
  return true;
}

bool PutNth(std::string_view value, FaultRule* rule) {
  if (!PutNumber(value, 1, UINT64_MAX, &rule->after)) return false;
  --rule->after;
  rule->times = 1;
  return true;
}

// What may stand behind a colon. The words of the first table say what goes wrong, and stand behind the function; those of the second
// choose, and go with the faults whose bits they have.
struct Word {
  std::string_view name;    // with the = when a value belongs to it
  std::string_view wanted;  // for people
  unsigned faults;
  bool (*put)(std::string_view value, FaultRule* rule);
};

constexpr Word kFaultWords[] = {
    {"fail=", "fail=CODE", Bit(FaultKind::kFail), &PutCode},
    {"delay=", "delay=TIME (such as 20ms)", Bit(FaultKind::kDelay), &PutDelay},
    {"memory", "memory", Bit(FaultKind::kMemory), [](std::string_view value, FaultRule*) { return value.empty(); }},
    {"lost=", "lost=CODE", Bit(FaultKind::kLost), &PutCode},
    {"lost", "lost", Bit(FaultKind::kLost),
     [](std::string_view value, FaultRule* rule) {
       rule->code = kConnectionLost;
       return value.empty();
     }},
    {"cut", "cut", Bit(FaultKind::kCut), [](std::string_view value, FaultRule*) { return value.empty(); }},
    {"", "a CODE from 1 to 999999", Bit(FaultKind::kAnswer), &PutCode},
};

constexpr Word kSelectors[] = {
    {"after=", "after=N", kEach, [](std::string_view value, FaultRule* rule) { return PutNumber(value, 0, UINT64_MAX, &rule->after); }},
    {"nth=", "nth=N", kEach, &PutNth},
    {"every=", "every=N", kEach, [](std::string_view value, FaultRule* rule) { return PutNumber(value, 1, UINT64_MAX, &rule->every); }},
    {"times=", "times=N", kEach, [](std::string_view value, FaultRule* rule) { return PutNumber(value, 0, UINT64_MAX, &rule->times); }},
    {"chance=", "chance=P (0 to 1)", kEach, &PutChance},
    {"seed=", "seed=N", kEach, &PutSeed},
    {"device=", "device=ID", kTasks | Bit(FaultKind::kMemory) | Bit(FaultKind::kLost),
     [](std::string_view value, FaultRule* rule) { return PutNumber(value, 0, INT32_MAX, &rule->device); }},
    {"size=", "size=LEAST or size=LEAST..MOST (such as 4KiB..1MiB)", kTasks | Bit(FaultKind::kMemory) | Bit(FaultKind::kCut), &PutSizes},
    {"peer=", "peer=RANK", Bit(FaultKind::kCut),
     [](std::string_view value, FaultRule* rule) { return PutNumber(value, 0, UINT32_MAX, &rule->peer); }},
};

// The first word of the table that the text begins with takes it.
template <size_t N>
const Word* Take(const Word (&words)[N], std::string_view text, FaultRule* rule) {
  for (const Word& word : words) {
    if (!text.starts_with(word.name)) continue;
    return word.put(text.substr(word.name.size()), rule) ? &word : nullptr;
  }
  return nullptr;
}

template <size_t N>
std::string Choices(const Word (&words)[N], unsigned faults) {
  std::string list;
  for (const Word& word : words)
    if ((word.faults & faults) != 0) list.append(list.empty() ? "" : ", ").append(word.wanted);
  const size_t last = list.rfind(", ");
  return last == std::string::npos ? list : list.replace(last, 1, " or");
}

std::string_view Cut(std::string_view* text, char at) {
  const size_t end = std::min(text->find(at), text->size());
  const std::string_view front = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return front;
}

bool IsFunction(std::string_view name) {
  const std::string_view stem = name.ends_with('*') ? name.substr(0, name.size() - 1) : name;
  return !name.empty() && std::all_of(stem.begin(), stem.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string At(std::string_view place, const std::string& wanted) { return "at '" + std::string(place) + "' " + wanted + " is wanted"; }

// What is wrong with it; empty: nothing.
std::string ParseRule(std::string_view text, FaultRule* rule) {
  rule->text = text;
  rule->function = Cut(&text, ':');
  if (!IsFunction(rule->function)) return At(rule->function, "a function, or the beginning of its name and *,");
  const std::string_view fault = Cut(&text, ':');
  const Word* const word = Take(kFaultWords, fault, rule);
  if (word == nullptr) return At(fault, Choices(kFaultWords, kEach));
  rule->kind = static_cast<FaultKind>(__builtin_ctz(word->faults));
  while (!text.empty()) {
    const std::string_view selector = Cut(&text, ':');
    const Word* const taken = Take(kSelectors, selector, rule);
    if (taken == nullptr || (taken->faults & word->faults) == 0) return At(selector, Choices(kSelectors, word->faults));
  }
  return "";
}

bool Names(const std::string& function, std::string_view called) {
  return function.ends_with('*') ? called.starts_with(std::string_view(function).substr(0, function.size() - 1)) : called == function;
}

bool Meets(const FaultRule& rule, const FaultTarget& target) {
  return (rule.device < 0 || rule.device == target.device) && (rule.peer < 0 || rule.peer == target.peer) && target.size >= rule.least &&
         target.size <= rule.most && Names(rule.function, target.function);
}

// The dice are thrown by hand: what the library makes of a seed may differ from one to the next.
bool Falls(FaultRule* rule) { return rule->chance >= 1 || static_cast<double>(rule->dice() >> 11) * 0x1p-53 < rule->chance; }

bool Strikes(FaultRule* rule) {
  if (++rule->met <= rule->after || rule->struck >= rule->times) return false;
  if ((rule->met - rule->after) % rule->every != 0 || !Falls(rule)) return false;
  ++rule->struck;
  return true;
}

}  // namespace

FaultRules ParseFaultRules(std::string_view text) {
  FaultRules parsed;
  for (int number = 1; !text.empty(); ++number) {
    FaultRule rule;
    const std::string_view one = Cut(&text, ';');
    const std::string wrong = ParseRule(one, &rule);
    if (!wrong.empty()) return {{}, "in rule " + std::to_string(number) + ", '" + std::string(one) + "', " + wrong};
    parsed.rules.push_back(std::move(rule));
  }
  return parsed;
}

const FaultRule* Strike(std::vector<FaultRule>& rules, FaultKind kind, const FaultTarget& target) {
  const FaultRule* first = nullptr;
  for (FaultRule& rule : rules)
    if (rule.kind == kind && Meets(rule, target) && Strikes(&rule) && first == nullptr) first = &rule;
  return first;
}

}  // namespace ropeway
