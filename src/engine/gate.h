// What stream-side waits wait for: something that is closed or open, with a list of those it holds up. Nobody sleeps in a
// gate; a queue whose head meets a closed gate is parked here, and whoever opens the gate sends it on.
//
// Two modes. A sticky gate stays open until it is closed (event records). An auto-reset gate lets one waiter through per
// opening and closes behind it (notifies).
//
// Invariant: a waiter is in at most one gate. Where PassOrPark returns false, exactly one of these happens: Opened() is
// called once, Foretold() is called once (perhaps before it returns), or Unpark returns true.
//
// A gate that a device is sure to open is foretold: who can order its work behind a point on the device need not wait for the host to see
// that it was passed. The gate stays closed until then, and is what everybody else looks at.
//
// The memory of a gate lasts as long as the engine: an Unpark may come when the gate is long out of use (lasting_gate.h).
#pragma once

#include <memory>

#include "base/spin_lock.h"

namespace ropeway {

class Gate;

// A place in the order of work on a device: passed when everything that was started in front of it is done.
class DevicePoint {
 public:
  virtual ~DevicePoint() = default;
};

// While one lives, the thread begins what is next behind a wait that it ends, if that is one that is begun in a moment (Task::kBrief): it
// is worth nobody's wake-up. For those who hold no lock.
class BeginsNextWait {
 public:
  BeginsNextWait() { on_ = true; }
  ~BeginsNextWait() { on_ = false; }
  BeginsNextWait(const BeginsNextWait&) = delete;
  BeginsNextWait& operator=(const BeginsNextWait&) = delete;
  static bool on() { return on_; }

 private:
  static thread_local bool on_;
};

// Where a waiter can be parked: a gate, or the list of those who wait for a value in memory.
class ParkingPlace {
 public:
  class Waiter {
   public:
    // The way is free. Called without any lock of the place, on the thread that opened it.
    virtual void Opened() = 0;
    // The gate was foretold, and the waiter is out of it. Called as Opened is, of those who follow.
    virtual void Foretold() {}
    // The last gate let it through because it was broken, not because it was open.
    bool broke_through() const { return broke_through_; }

   protected:
    ~Waiter() = default;
    // Whether it wants to hear what a gate foretells; set before it is parked.
    bool follows_ = false;

   private:
    friend class Gate;
    Waiter* next_parked_ = nullptr;
    bool broke_through_ = false;
  };

  // True when the waiter was parked here and no longer is.
  virtual bool Unpark(Waiter* waiter) = 0;

 protected:
  ~ParkingPlace() = default;
};

class Gate final : public ParkingPlace {
 public:
  enum class Mode { kSticky, kAutoReset };

  explicit Gate(Mode mode = Mode::kSticky) : mode_(mode) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // True: the way is free. False: the waiter is parked, or follows what was foretold already.
  bool PassOrPark(Waiter* waiter);
  bool Unpark(Waiter* waiter) override;

  void Open();
  void Close();
  bool open() const;

  // Will be opened, whatever happens, by somebody who sees that the point was passed. Those parked who follow are told.
  void Foretell(std::shared_ptr<DevicePoint> point);
  // What there is to follow; null behind an opening, and where nobody has foretold one.
  std::shared_ptr<DevicePoint> foretold() const;

  // What opens this gate may never come again: those who are parked go on, and nobody is parked here until Renew. Each is told
  // whether it still met an opening (broke_through).
  void Break();
  // Closed and whole, as a new one. Nobody may be parked.
  void Renew();

 private:
  const Mode mode_;
  mutable SpinLock lock_{LockRank::kGate};
  static void Release(Waiter* released);
  Waiter* TakeFollowers() RW_REQUIRES(lock_);

  bool open_ RW_GUARDED_BY(lock_) = false;
  bool broken_ RW_GUARDED_BY(lock_) = false;
  Waiter* first_ RW_GUARDED_BY(lock_) = nullptr;  // oldest first
  Waiter* last_ RW_GUARDED_BY(lock_) = nullptr;
  std::shared_ptr<DevicePoint> foretold_ RW_GUARDED_BY(lock_);
};

}  // namespace ropeway
