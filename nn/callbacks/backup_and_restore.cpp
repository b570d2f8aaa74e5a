#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/nn/callbacks/backup_and_restore.hpp>
#include <ktape/nn/files/folders.hpp>
#include <ktape/nn/saving/safetensors/safetensors.hpp>
#include <ktape/nn/training/trainer.hpp>

#include <filesystem>

namespace ktape::nn {
namespace {

namespace fs = std::filesystem;

class BackupAndRestoreImpl final : public CallbackImpl {
 public:
  BackupAndRestoreImpl(const std::string& backup_dir, const BackupAndRestoreOptions& options)
      : folder_(backup_dir),
        file_((fs::path(backup_dir) / "latest.safetensors").string()),
        options_(options) {
    if (backup_dir.empty())
      fail("[BackupAndRestore] backup_dir must name a folder: received backup_dir=\"\"");
  }

  std::string class_name() const override { return "BackupAndRestore"; }
  bool writes_files() const override { return true; }
  bool comes_last() const override { return true; }

  void on_train_begin(const Logs&) override {
    batches_ = 0;
    kept_.clear();
    make_folder("BackupAndRestore", folder_);
    if (!fs::exists(file_)) return;
    training().build();
    restore(load_safetensors(file_));
  }

  /// Restores the state of all callbacks, which undoes what their `on_epoch_begin` changed: a resumed epoch
  /// has begun before.
  void on_epoch_begin(int, const Logs&) override {
    if (!kept_.empty()) restore(std::exchange(kept_, {}));
    kept_.clear();
  }

  void on_train_batch_end(std::int64_t, const Logs&) override {
    if (options_.save_freq.due(++batches_)) save();
  }

  /// Writes a backup, except after an epoch that Ctrl-C ended early.
  void on_epoch_end(int, const Logs&) override {
    if (options_.save_freq.by_epoch() && !training().interrupted()) save();
  }

  void on_train_end(const Logs&) override {
    if (!options_.delete_checkpoint || training().interrupted()) return;
    std::error_code ignored;
    fs::remove(file_, ignored);
    fs::remove(folder_, ignored);  // keeps a folder with other files
  }

  void state(Archive& state) override { state("batches", batches_); }

 private:
  TrainingRun& training() const { return *model().impl().trainer().training; }

  void save() {
    Archive state;
    training().state(state);
    save_safetensors(file_, state.entries());
  }

  void take(const std::vector<Archive::Entry>& entries) const {
    Archive state(entries);
    training().state(state);
  }

  /// Takes the state of a backup; an error or an interrupt leaves the state of before.
  void restore(const std::vector<Archive::Entry>& entries) {
    Archive before;
    training().state(before);
    try {
      take(entries);
    } catch (const Interrupted&) {
      take(before.entries());
      throw;
    } catch (const Error& error) {
      take(before.entries());
      fail("[BackupAndRestore] the backup must be of this training, or be deleted: received '", file_, "' (",
           error.what(), ')');
    } catch (...) {
      take(before.entries());
      throw;
    }
    if (training().within_epoch()) kept_ = entries;
  }

  std::string folder_, file_;
  BackupAndRestoreOptions options_;
  std::int64_t batches_ = 0;
  std::vector<Archive::Entry> kept_;  ///< the callbacks' state in a resumed epoch
};

}  // namespace

BackupAndRestore::BackupAndRestore(const BackupAndRestoreOptions& options)
    : Callback(std::make_shared<BackupAndRestoreImpl>(options.backup_dir, options)) {}

}  // namespace ktape::nn
