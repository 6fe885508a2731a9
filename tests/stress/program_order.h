// What is ordered behind what in a program, so that a generator can make one without races: a vector clock for each agent (the program's
// thread, every stream; inside a capture, every branch), and for each page of each block who wrote it last and who has read it since.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ropeway_test::programs {

class Order {
 public:
  using Clock = std::vector<uint32_t>;
  struct Point {
    size_t agent = 0;
    uint32_t time = 0;
  };
  struct Use {
    int block = -1;
    size_t offset = 0;
    size_t size = 0;
    bool writes = false;
  };

  size_t AddAgent() {
    clocks_.emplace_back();
    return clocks_.size() - 1;
  }
  Clock ClockOf(size_t agent) const { return clocks_[agent]; }
  void Learn(size_t agent, const Clock& clock) {
    Clock& known = clocks_[agent];
    known.resize(std::max(known.size(), clock.size()));
    for (size_t i = 0; i < clock.size(); ++i) known[i] = std::max(known[i], clock[i]);
  }
  bool Knows(size_t agent, Point point) const {
    if (point.agent == agent || point.time == 0) return true;
    const Clock& known = clocks_[agent];
    return point.agent < known.size() && known[point.agent] >= point.time;
  }
  // The agent's next action.
  Point Act(size_t agent) {
    Clock& known = clocks_[agent];
    known.resize(std::max(known.size(), agent + 1));
    return {agent, ++known[agent]};
  }

  // What has to be in front of an action that uses these bytes, and is not known to be.
  std::vector<Point> Unordered(size_t agent, const std::vector<Use>& uses) const {
    std::vector<Point> found;
    const auto look = [&](Point point) {
      if (!Knows(agent, point)) found.push_back(point);
    };
    ForPages(uses, [&](std::pair<int, size_t> page, bool writes) {
      const auto it = pages_.find(page);
      if (it == pages_.end()) return;
      look(it->second.writer);
      if (writes) std::for_each(it->second.readers.begin(), it->second.readers.end(), look);
    });
    return found;
  }
  void Note(Point point, const std::vector<Use>& uses) {
    ForPages(uses, [&](std::pair<int, size_t> number, bool writes) {
      Page& page = pages_[number];
      if (writes) {
        page = {point, {}};
      } else {
        page.readers.push_back(point);
      }
    });
  }

 private:
  static constexpr size_t kPage = 64;
  struct Page {
    Point writer;
    std::vector<Point> readers;
  };

  template <typename Body>
  static void ForPages(const std::vector<Use>& uses, Body&& body) {
    for (const Use& use : uses) {
      for (size_t page = use.offset / kPage; use.size > 0 && page <= (use.offset + use.size - 1) / kPage; ++page)
        body(std::pair(use.block, page), use.writes);
    }
  }

  std::vector<Clock> clocks_;
  std::map<std::pair<int, size_t>, Page> pages_;
};

}  // namespace ropeway_test::programs
