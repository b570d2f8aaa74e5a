#include <algorithm>
#include <fstream>
#include <random>
#include <string>

/// Writes the six files of CIFAR-10's binary version into a folder, with generated pictures of ten colours: a
/// record is the label and 32 x 32 bytes for each of red, green and blue.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 40);
  for (const char* name :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
    std::ofstream file(std::string(argv[1]) + '/' + name + ".bin", std::ios::binary);
    for (int picture = 0; picture < 120; ++picture) {
      const int label = picture % 10;
      file.put(static_cast<char>(label));
      for (const int level : {label % 3, label / 3 % 3, label / 9})
        for (int pixel = 0; pixel < 32 * 32; ++pixel)
          file.put(
              static_cast<char>(static_cast<int>(std::clamp(60 + 65 * level + noise(random), 0., 255.))));
    }
    if (!file) return 1;
  }
}
