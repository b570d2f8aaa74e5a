#include <ktape/interactive/clang/parse_watchdog.hpp>

#include <time.h>
#include <unistd.h>

namespace ktape::interactive {
namespace {

constexpr int idle_ticks_after_error = 10, idle_ticks = 300;  // tenths of seconds of the processor
constexpr int most_ends = 10000;                              // a correct parse reads the end a few times

ParseWatchdog* watching = nullptr;

timer_t make_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGVTALRM;
  event._sigev_un._tid = gettid();
  timer_t timer{};
  timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
  return timer;
}

/// Starts or stops the ticks, which come with each tenth of a second that this thread computes.
void set_ticks(bool on) {
  static const timer_t timer = make_timer();
  itimerspec times{};
  if (on) times.it_value = times.it_interval = {0, 100'000'000};
  timer_settime(timer, 0, &times, nullptr);
}

}  // namespace

void ParseWatchdog::read(clang::Token& token) {
  if (!parser_token_) parser_token_ = &token;
  reads_ = reads_ + 1;
  at_end_ = token.is(clang::tok::annot_repl_input_end);
  ends_ = at_end_ ? ends_ + 1 : 0;
  if (ends_ > most_ends) token.setKind(clang::tok::eof);
}

void ParseWatchdog::on_tick(int) {
  if (watching) watching->tick();
}

void ParseWatchdog::tick() {
  idle_ticks_ = reads_ == reads_before_ ? idle_ticks_ + 1 : 0;
  reads_before_ = reads_;
  const bool failed = preprocessor_->getDiagnostics().hasErrorOccurred();
  if (!parser_token_ || idle_ticks_ < (failed ? idle_ticks_after_error : idle_ticks)) return;
  parser_token_->setKind(clang::tok::eof);
  ended_ = 1;
  idle_ticks_ = 0;
}

/// Reads the rest of a cell whose parse was ended, and restores the token that the next parse begins with.
void ParseWatchdog::end_parse() {
  for (clang::Token token; ended_ && !at_end_;) preprocessor_->Lex(token);
  if (parser_token_ && parser_token_->is(clang::tok::eof))
    parser_token_->setKind(clang::tok::annot_repl_input_end);
  ended_ = 0;
}

ParseWatchdog::Scope::Scope(ParseWatchdog& watchdog) : watchdog_(watchdog) {
  watchdog.parser_token_ = nullptr;
  watchdog.idle_ticks_ = 0;
  watchdog.ended_ = 0;
  watching = &watchdog;
  struct sigaction action {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGVTALRM, &action, &before_);
  set_ticks(true);
}

ParseWatchdog::Scope::~Scope() {
  set_ticks(false);
  sigaction(SIGVTALRM, &before_, nullptr);
  watching = nullptr;
  watchdog_.end_parse();
}

}  // namespace ktape::interactive
