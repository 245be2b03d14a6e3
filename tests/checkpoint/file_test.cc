// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class File : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(testing::TempDir()) / ("strata_checkpoint_file_" + test);
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    file_ = folder_ / "state.msgpack";
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::vector<std::string> names_in_folder() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }

  static State state(float value) { return State{{Path{"layer", 0, "kernel"}, Param(full({100, 100}, value))}}; }

  fs::path folder_;
  std::string file_;
};

TEST_F(File, RestoresWhatWasSaved) {
  save(file_, state(1.5f));
  EXPECT_EQ(restore(file_), state(1.5f));
  EXPECT_THAT(names_in_folder(), testing::ElementsAre("state.msgpack"));
}

TEST_F(File, HoldsTheBytesOfTheEncoding) {
  save(file_, state(1.5f));
  EXPECT_EQ(fs::file_size(file_), encode_dopamine(state(1.5f)).size());
}

TEST_F(File, SaveReplacesAnEarlierFile) {
  save(file_, state(1.0f));
  save(file_, state(2.0f));
  EXPECT_EQ(restore(file_), state(2.0f));
}

TEST_F(File, SaveGivesTheFileThePermissionsOfANewFile) {
  save(file_, State());
  const fs::path other = folder_ / "other";
  std::ofstream(other) << "x";
  EXPECT_EQ(fs::status(file_).permissions(), fs::status(other).permissions());
}

TEST_F(File, AStateThatCannotBeEncodedLeavesTheOldFile) {
  save(file_, state(1.0f));
  EXPECT_THAT(
      [&] {
        save(file_, State{{Path{"integer"}, Variable(ones({2}))}});
      },
      ThrowsMessage<StateError>(HasSubstr("[save] Dopamine's encoding cannot hold the state")));
  EXPECT_EQ(restore(file_), state(1.0f));
  EXPECT_THAT(names_in_folder(), testing::ElementsAre("state.msgpack"));
}

// While it lives, the system refuses to write more than a few bytes to any file.
class FullDisk {
 public:
  FullDisk() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{.rlim_cur = 1000, .rlim_max = limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit limit_{};
  void (*handler_)(int);
};

TEST_F(File, ADiskThatIsFullLeavesTheOldFile) {
  save(file_, state(1.0f));
  {
    const FullDisk full_disk;
    EXPECT_THAT([&] { save(file_, state(2.0f)); },
                ThrowsMessage<IoError>("[save] " + file_ + ": cannot write: File too large."));
  }
  EXPECT_EQ(restore(file_), state(1.0f));
  EXPECT_THAT(names_in_folder(), testing::ElementsAre("state.msgpack"));
}

TEST_F(File, SaveNamesAFolderThatIsNotThere) {
  const std::string file = folder_ / "none" / "state.msgpack";
  EXPECT_THAT(
      [&] { save(file, state(1.0f)); },
      ThrowsMessage<IoError>("[save] " + file + ": cannot create a file beside it: No such file or directory."));
}

TEST_F(File, SaveToTheNameOfAFolderFailsAndLeavesNothing) {
  fs::create_directory(file_);
  EXPECT_THAT([&] { save(file_, state(1.0f)); },
              ThrowsMessage<IoError>(HasSubstr("cannot replace what is no regular file")));
  EXPECT_THAT(names_in_folder(), testing::ElementsAre("state.msgpack"));
}

TEST_F(File, SaveRefusesANameWithANul) {
  EXPECT_THROW(save(file_ + std::string("\0x", 2), state(1.0f)), IoError);
  EXPECT_THAT(names_in_folder(), testing::IsEmpty());
}

TEST_F(File, RestoreRefusesWhatIsNoRegularFile) {
  constexpr const char* refusal = "cannot read what is no regular file";
  EXPECT_THAT([] { (void)restore("/dev/zero"); }, ThrowsMessage<IoError>(HasSubstr(refusal)));
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT([&] { (void)restore(file_); }, ThrowsMessage<IoError>(HasSubstr(refusal)));
}

TEST_F(File, RestoreRefusesANameWithANul) {
  save(file_, state(1.0f));
  EXPECT_THROW((void)restore(file_ + std::string("\0x", 2)), IoError);
}

TEST_F(File, RestoreNamesAFileThatIsNotThere) {
  EXPECT_THAT([&] { (void)restore(file_); },
              ThrowsMessage<IoError>("[restore] " + file_ + ": cannot open: No such file or directory."));
}

TEST_F(File, RestoreOfAFolderIsAnIoError) {
  EXPECT_THAT([&] { (void)restore(folder_); }, ThrowsMessage<IoError>(HasSubstr("cannot read: Is a directory.")));
}

TEST_F(File, RestoreNamesFileAndByteOfAMistake) {
  std::ofstream(file_) << "\x81";
  EXPECT_THAT([&] { (void)restore(file_); },
              ThrowsMessage<FormatError>("[restore] " + file_ +
                                         ", byte 0: a map of 1 items is announced, but only 0 bytes follow."));
}

}  // namespace
}  // namespace strata::checkpoint
