//===- NpyTest.cpp - The .npy reader refuses what it should ---------------===//

#include "norm_fusion/Runtime/Npy.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir::norm_fusion::runtime;
using llvm::Expected;
using llvm::StringRef;

/// A file of `version` with this dictionary and `dataBytes` zeros.
static std::string makeFile(StringRef dictionary, size_t dataBytes,
                            unsigned version = 1) {
  std::string file("\x93NUMPY");
  file += static_cast<char>(version);
  file += '\0';
  size_t length = dictionary.size() + 1;
  for (unsigned i = 0; i < (version == 1 ? 2u : 4u); ++i)
    file += static_cast<char>(length >> (8 * i));
  file += dictionary;
  file += '\n';
  return file + std::string(dataBytes, '\0');
}

/// What the reader says; empty if it accepts the file.
static std::string getProblem(StringRef contents,
                              ElementType type = ElementType::f32) {
  Expected<Tensor> tensor = parseNpy(contents, "x.npy", type);
  return tensor ? std::string() : llvm::toString(tensor.takeError());
}

static std::string getProblemOf(StringRef dictionary, size_t dataBytes,
                                ElementType type = ElementType::f32) {
  return getProblem(makeFile(dictionary, dataBytes), type);
}

TEST(Npy, acceptsAllVersionsAndSpellings) {
  StringRef plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  for (unsigned version : {1, 2, 3})
    EXPECT_EQ(getProblem(makeFile(plain, 24, version)), "");
  EXPECT_EQ(getProblemOf("{\"shape\":(6,),\"descr\":\"<f4\","
                         "\"fortran_order\":False}",
                         24),
            "");
  EXPECT_EQ(getProblemOf("{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                         4),
            "");
  EXPECT_EQ(getProblemOf(
                "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7)}", 0),
            "");
  for (StringRef descr : {"<u2", "|V2"})
    EXPECT_EQ(getProblemOf(("{'descr': '" + descr +
                            "', 'fortran_order': False, 'shape': (3,)}")
                               .str(),
                           6, ElementType::bf16),
              "");
}

TEST(Npy, saysWhatTypeItFoundAndExpected) {
  std::string problem = getProblemOf(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8,
      ElementType::bf16);
  EXPECT_NE(problem.find("<f4"), std::string::npos);
  EXPECT_NE(problem.find("<u2 or |V2"), std::string::npos);
  // Big-endian, objects, records.
  for (StringRef descr : {"'>f4'", "'|O'", "'O'", "[('a', '<f4')]", "'<f2'"})
    EXPECT_NE(getProblemOf(("{'descr': " + descr +
                            ", 'fortran_order': False, 'shape': (2,)}")
                               .str(),
                           8),
              "");
}

TEST(Npy, refusesHostileHeaders) {
  EXPECT_NE(getProblem(""), "");
  EXPECT_NE(getProblem("\x93NUMPY"), "");
  EXPECT_NE(getProblem(StringRef("\x93NUMPY\x01\x00\xff\xff", 10)), "");
  EXPECT_NE(getProblem(StringRef("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), "");
  EXPECT_NE(getProblem(StringRef("\x93NUMPY\x02\x00\xff", 9)), "");
  EXPECT_NE(getProblem(StringRef("\x93NUMPY\x09\x00\x01\x00{", 11)), "");
  for (StringRef dictionary :
       {"", "{", "{}", "{'descr'", "{'descr': '<f4'}", "import os",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + 1",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2"})
    EXPECT_NE(getProblemOf(dictionary, 8), "") << dictionary.str();
  EXPECT_NE(getProblemOf("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}",
                         8)
                .find("row-major"),
            std::string::npos);
}

TEST(Npy, checksProductsAndSize) {
  EXPECT_NE(getProblemOf("{'descr': '<f4', 'fortran_order': False, 'shape': "
                         "(4294967296, 4294967296)}",
                         8),
            "");
  // Zero elements don't excuse a product that overflows.
  EXPECT_NE(getProblemOf("{'descr': '<f4', 'fortran_order': False, 'shape': "
                         "(0, 4294967296, 4294967296)}",
                         0),
            "");
  EXPECT_NE(getProblemOf("{'descr': '<f4', 'fortran_order': False, 'shape': "
                         "(99999999999999999999,)}",
                         8),
            "");
  for (size_t bytes : {0, 7, 9})
    EXPECT_NE(getProblemOf(
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                  bytes),
              "");
  std::string booleans =
      makeFile("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", 2);
  EXPECT_EQ(getProblem(booleans, ElementType::i1), "");
  booleans.back() = 7;
  EXPECT_NE(getProblem(booleans, ElementType::i1), "");
}

TEST(Npy, readsWhatItWrote) {
  for (ElementType type :
       {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16,
        ElementType::f8E4M3FN, ElementType::f8E5M2, ElementType::i1,
        ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64})
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{}, std::vector<int64_t>{5},
          std::vector<int64_t>{0, 3}, std::vector<int64_t>{2, 3, 4}}) {
      llvm::SmallString<64> path;
      ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("tensor", "npy", path));
      Tensor tensor = llvm::cantFail(Tensor::create(type, shape));
      tensor.fillRandom(7);
      ASSERT_FALSE(bool(writeNpy(path, tensor)));
      Tensor read = llvm::cantFail(readNpy(path, type));
      EXPECT_TRUE(read.isBitwiseEqual(tensor)) << tensor.getTypeName();
      llvm::sys::fs::remove(path);
    }
}

TEST(Npy, writesNothingWhereItCannot) {
  Tensor tensor = llvm::cantFail(Tensor::create(ElementType::f32, {2}));
  EXPECT_NE(llvm::toString(writeNpy("/no/such/folder/x.npy", tensor)), "");
}
