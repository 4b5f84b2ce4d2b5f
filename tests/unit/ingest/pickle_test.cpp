#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "simulator/base/error.hpp"
#include "simulator/ingest/pickle/read_pickle.hpp"
#include "simulator/ingest/pickle/text_escapes.hpp"

namespace interlace::ingest::pickle {
namespace {

using namespace std::string_view_literals;

/// A value as Python would print it, nearly.
std::string printed(const Value& value, int depth = 0) {  // NOLINT(misc-no-recursion): bounded
  if (depth > 8) return "...";
  if (const auto boolean = value.boolean()) return *boolean ? "True" : "False";
  if (const auto integer = value.integer()) return std::to_string(*integer);
  if (const auto large = value.unsigned_integer()) return std::to_string(*large) + "u";
  if (value.kind() == Kind::kNone) return "None";
  if (value.kind() == Kind::kHugeInteger) return "huge";
  if (const auto number = value.number()) return std::to_string(*number);
  if (const auto text = value.text()) {
    std::string quoted(value.kind() == Kind::kBytes ? "b<" : "<");
    return quoted.append(*text).append(">");
  }
  const bool is_list = value.kind() == Kind::kList;
  const bool is_tuple = value.kind() == Kind::kTuple;
  std::string all(is_list ? "[" : is_tuple ? "(" : "{");
  bool is_key = value.kind() == Kind::kDict;
  for (const Value element : value) {
    all += printed(element, depth + 1);
    all += is_key ? ": " : ", ";
    if (value.kind() == Kind::kDict) is_key = !is_key;
  }
  if (all.ends_with(", ")) all.resize(all.size() - 2);
  return all += is_list ? "]" : is_tuple ? ")" : "}";
}

std::string read(std::string_view bytes) { return printed(read_pickle(bytes, "test").root()); }

std::string error_of(std::string_view bytes) {
  try {
    (void)read_pickle(bytes, "test");
  } catch (const Error& error) {
    return std::string(error.code()) + " " + error.place() + ": " + error.problem();
  }
  return "none";
}

std::string code_of(std::string_view bytes) {
  const std::string error = error_of(bytes);
  return error.substr(0, error.find(' '));
}

/// What pickle.dumps of CPython 3.11 writes, for protocols 0 to 5, of
///   shared = ["x", None]
///   {"integers": [0, 255, 65535, -1, 2**31 - 1, -2**31, 2**40, -2**63, 2**63, 2**64 - 1, 2**64, -2**63 - 1],
///    "floats": [1.5, -1e300], "bools": [True, False], "texts": ["", "a'\\\n", "\u20ac\U0001F600"],
///    "shared": [shared, shared], "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)]}
constexpr std::array<std::string_view, 6> kByProtocol{
    // protocol 0
    "(dp0\012Vintegers\012p1\012(lp2\012I0\012aI255\012aI65535\012aI-1\012aI2147483647\012aI-2147483648"
    "\012aL1099511627776L\012aL-9223372036854775808L\012aL9223372036854775808L\012aL18446744073709551615L"
    "\012aL18446744073709551616L\012aL-9223372036854775809L\012asVfloats\012p3\012(lp4\012F1.5\012aF-1e+3"
    "00\012asVbools\012p5\012(lp6\012I01\012aI00\012asVtexts\012p7\012(lp8\012V\012p9\012aVa'\\u005c\\u00"
    "0a\012p10\012aV\\u20ac\\U0001f600\012p11\012asVshared\012p12\012(lp13\012(lp14\012Vx\012p15\012aNaag"
    "14\012asVtuples\012p16\012(lp17\012(ta(I1\012tp18\012a(I1\012I2\012tp19\012a(I1\012I2\012I3\012tp20"
    "\012a(I1\012I2\012I3\012I4\012tp21\012as."sv,
    // protocol 1
    "}q\000(X\010\000\000\000integersq\001]q\002(K\000K\377M\377\377J\377\377\377\377J\377\377\377\177J"
    "\000\000\000\200L1099511627776L\012L-9223372036854775808L\012L9223372036854775808L\012L1844674407370"
    "9551615L\012L18446744073709551616L\012L-9223372036854775809L\012eX\006\000\000\000floatsq\003]q\004("
    "G\077\370\000\000\000\000\000\000G\3767\344<\210\000u\234eX\005\000\000\000boolsq\005]q\006(I01\012I"
    "00\012eX\005\000\000\000textsq\007]q\010(X\000\000\000\000q\011X\004\000\000\000a'\\\012q\012X\007"
    "\000\000\000\342\202\254\360\237\230\200q\013eX\006\000\000\000sharedq\014]q\015(]q\016(X\001\000"
    "\000\000xq\017Neh\016eX\006\000\000\000tuplesq\020]q\021()(K\001tq\022(K\001K\002tq\023(K\001K\002K"
    "\003tq\024(K\001K\002K\003K\004tq\025eu."sv,
    // protocol 2
    "\200\002}q\000(X\010\000\000\000integersq\001]q\002(K\000K\377M\377\377J\377\377\377\377J\377\377"
    "\377\177J\000\000\000\200\212\006\000\000\000\000\000\001\212\010\000\000\000\000\000\000\000\200"
    "\212\011\000\000\000\000\000\000\000\200\000\212\011\377\377\377\377\377\377\377\377\000\212\011\000"
    "\000\000\000\000\000\000\000\001\212\011\377\377\377\377\377\377\377\177\377eX\006\000\000\000floats"
    "q\003]q\004(G\077\370\000\000\000\000\000\000G\3767\344<\210\000u\234eX\005\000\000\000boolsq\005]q"
    "\006(\210\211eX\005\000\000\000textsq\007]q\010(X\000\000\000\000q\011X\004\000\000\000a'\\\012q\012"
    "X\007\000\000\000\342\202\254\360\237\230\200q\013eX\006\000\000\000sharedq\014]q\015(]q\016(X\001"
    "\000\000\000xq\017Neh\016eX\006\000\000\000tuplesq\020]q\021()K\001\205q\022K\001K\002\206q\023K\001"
    "K\002K\003\207q\024(K\001K\002K\003K\004tq\025eu."sv,
    // protocol 3
    "\200\003}q\000(X\010\000\000\000integersq\001]q\002(K\000K\377M\377\377J\377\377\377\377J\377\377"
    "\377\177J\000\000\000\200\212\006\000\000\000\000\000\001\212\010\000\000\000\000\000\000\000\200"
    "\212\011\000\000\000\000\000\000\000\200\000\212\011\377\377\377\377\377\377\377\377\000\212\011\000"
    "\000\000\000\000\000\000\000\001\212\011\377\377\377\377\377\377\377\177\377eX\006\000\000\000floats"
    "q\003]q\004(G\077\370\000\000\000\000\000\000G\3767\344<\210\000u\234eX\005\000\000\000boolsq\005]q"
    "\006(\210\211eX\005\000\000\000textsq\007]q\010(X\000\000\000\000q\011X\004\000\000\000a'\\\012q\012"
    "X\007\000\000\000\342\202\254\360\237\230\200q\013eX\006\000\000\000sharedq\014]q\015(]q\016(X\001"
    "\000\000\000xq\017Neh\016eX\006\000\000\000tuplesq\020]q\021()K\001\205q\022K\001K\002\206q\023K\001"
    "K\002K\003\207q\024(K\001K\002K\003K\004tq\025eu."sv,
    // protocol 4
    "\200\004\225\370\000\000\000\000\000\000\000}\224(\214\010integers\224]\224(K\000K\377M\377\377J\377"
    "\377\377\377J\377\377\377\177J\000\000\000\200\212\006\000\000\000\000\000\001\212\010\000\000\000"
    "\000\000\000\000\200\212\011\000\000\000\000\000\000\000\200\000\212\011\377\377\377\377\377\377\377"
    "\377\000\212\011\000\000\000\000\000\000\000\000\001\212\011\377\377\377\377\377\377\377\177\377e"
    "\214\006floats\224]\224(G\077\370\000\000\000\000\000\000G\3767\344<\210\000u\234e\214\005bools\224]"
    "\224(\210\211e\214\005texts\224]\224(\214\000\224\214\004a'\\\012\224\214\007\342\202\254\360\237"
    "\230\200\224e\214\006shared\224]\224(]\224(\214\001x\224Neh\016e\214\006tuples\224]\224()K\001\205"
    "\224K\001K\002\206\224K\001K\002K\003\207\224(K\001K\002K\003K\004t\224eu."sv,
    // protocol 5
    "\200\005\225\370\000\000\000\000\000\000\000}\224(\214\010integers\224]\224(K\000K\377M\377\377J\377"
    "\377\377\377J\377\377\377\177J\000\000\000\200\212\006\000\000\000\000\000\001\212\010\000\000\000"
    "\000\000\000\000\200\212\011\000\000\000\000\000\000\000\200\000\212\011\377\377\377\377\377\377\377"
    "\377\000\212\011\000\000\000\000\000\000\000\000\001\212\011\377\377\377\377\377\377\377\177\377e"
    "\214\006floats\224]\224(G\077\370\000\000\000\000\000\000G\3767\344<\210\000u\234e\214\005bools\224]"
    "\224(\210\211e\214\005texts\224]\224(\214\000\224\214\004a'\\\012\224\214\007\342\202\254\360\237"
    "\230\200\224e\214\006shared\224]\224(]\224(\214\001x\224Neh\016e\214\006tuples\224]\224()K\001\205"
    "\224K\001K\002\206\224K\001K\002K\003\207\224(K\001K\002K\003K\004t\224eu."sv,
};

TEST(Pickle, ReadsWhatEveryProtocolWrites) {
  const std::string expected =
      "{<integers>: [0, 255, 65535, -1, 2147483647, -2147483648, 1099511627776, -9223372036854775808, "
      "9223372036854775808u, 18446744073709551615u, huge, huge], <floats>: [1.500000, " +
      std::to_string(-1e300) +
      "], <bools>: [True, False], <texts>: [<>, <a'\\\n>, <\xE2\x82\xAC\xF0\x9F\x98\x80>], "
      "<shared>: [[<x>, None], [<x>, None]], <tuples>: [(), (1), (1, 2), (1, 2, 3), (1, 2, 3, 4)]}";
  for (std::size_t protocol = 0; protocol < kByProtocol.size(); ++protocol) {
    EXPECT_EQ(read(kByProtocol[protocol]), expected) << "protocol " << protocol;
  }
}

TEST(Pickle, SharesWhatThePickleShares) {
  for (const std::string_view bytes : kByProtocol) {
    const Tree tree = read_pickle(bytes, "test");
    const Value shared = *tree.root().find("shared");
    ASSERT_EQ(shared.size(), 2U);
    EXPECT_EQ((*shared.begin()).index(), (*++shared.begin()).index());
    EXPECT_EQ(tree.bytes_used(), bytes.size());
  }
}

// [{1}, frozenset([2, 3]), b"\0\xff", bytearray(b"abc")] in protocol 5.
TEST(Pickle, ReadsSetsAndBytes) {
  EXPECT_EQ(read("\200\005\225\042\000\000\000\000\000\000\000]\224(\217\224(K\001\220(K\002K\003\221\224"
                 "C\002\000\377\224\226\003\000\000\000\000\000\000\000abc\224e."sv),
            "[{1}, {2, 3}, b<\0\377>, b<abc>]"sv);
}

TEST(Pickle, ReadsTheTextsOfPython2) {
  EXPECT_EQ(read("S'it\\'s \\x41\\101\\n\\\\'\n."), "<it's AA\n\\>");
  EXPECT_EQ(read("S\"it's\"\n."), "<it's>");
  EXPECT_EQ(read("T\003\000\000\000abc."sv), "<abc>");
  EXPECT_EQ(read("U\003abc."), "<abc>");
  EXPECT_EQ(read("Vcaf\351\n."), "<caf\303\251>");
  EXPECT_EQ(code_of("S'abc\n."), "pickle.malformed");
  EXPECT_EQ(code_of("S'a\\'\n."), "pickle.malformed");
  EXPECT_EQ(code_of("V\\u12\n."), "pickle.malformed");
  EXPECT_EQ(unquoted("'"), std::nullopt);
  EXPECT_EQ(from_raw_unicode_escape("\\U00110000"), std::nullopt);
}

TEST(Pickle, ReadsLongNumbers) {
  EXPECT_EQ(read("\212\000."sv), "0");
  EXPECT_EQ(read("\212\002\000\200."sv), "-32768");
  EXPECT_EQ(read("\213\003\000\000\000\001\000\001."sv), "65537");
  EXPECT_EQ(read("\213\012\000\000\000\005\000\000\000\000\000\000\000\000\000."sv), "5");
  EXPECT_EQ(read("\212\011\000\000\000\000\000\000\000\000\377."sv), "huge");  // -2^64
  EXPECT_EQ(code_of("\213\377\377\377\377."sv), "pickle.malformed");
  EXPECT_EQ(code_of("I12x\n."), "pickle.malformed");
  EXPECT_EQ(code_of("L\n."), "pickle.malformed");
  EXPECT_EQ(code_of("F1.5.\n."), "pickle.malformed");
}

TEST(Pickle, KnowsTheOldWaysToFillContainers) {
  EXPECT_EQ(read("(lI1\naI2\na(I3\nI4\nla."), "[1, 2, [3, 4]]");
  EXPECT_EQ(read("(dS'a'\nI1\nsS'b'\nI2\ns."), "{<a>: 1, <b>: 2}");
  EXPECT_EQ(read("(S'a'\nI1\nd."), "{<a>: 1}");
  EXPECT_EQ(read("]NNNN000a."), "[None]");
  EXPECT_EQ(read("(NN1N."), "None");
  EXPECT_EQ(read("((0(0N00N."), "None") << "POP takes a mark too";
}

TEST(Pickle, FindsTheLastOfARepeatedKey) {
  const Tree tree = read_pickle("}(U\001aI1\nU\001bI2\nU\001aI3\nu."sv, "test");
  EXPECT_EQ(tree.root().size(), 3U);
  EXPECT_EQ(tree.root().find("a")->integer(), 3);
  EXPECT_EQ(tree.root().find("c"), std::nullopt);
}

// A container that is filled again and again, while others are filled in between, keeps the order.
TEST(Pickle, KeepsTheOrderOfContainersThatAreFilledByTurns) {
  EXPECT_EQ(read("]q\001]q\002\206(h\001K\001ah\002K\002a0h\001K\003ah\002(K\004K\005e0h\001(K\006K\007e1."sv),
            "([1, 3, 6, 7], [2, 4, 5])");
}

TEST(Pickle, RefusesEveryInstructionThatRunsCode) {
  // os.system, as the textbook attack has it.
  EXPECT_EQ(error_of("cos\nsystem\n(S'true'\ntR."),
            "pickle.refused_opcode test: byte 0: the pickle's instruction GLOBAL would run code, which is never done");
  EXPECT_EQ(error_of("\200\004\214\002os\214\006system\223."sv),
            "pickle.refused_opcode test: byte 14: the pickle's instruction STACK_GLOBAL would run code, which is never "
            "done");
  struct Refused {
    std::string_view name;
    std::string_view bytes;
  };
  const std::array<Refused, 13> all{{{"REDUCE", ")R"},
                                     {"BUILD", "b"},
                                     {"INST", "(ios\nsystem\n"},
                                     {"OBJ", "o"},
                                     {"NEWOBJ", "\201"},
                                     {"NEWOBJ_EX", "\222"},
                                     {"EXT1", "\202\001"},
                                     {"EXT2", "\203\001\001"},
                                     {"EXT4", "\204\001\001\001\001"},
                                     {"PERSID", "P1\n"},
                                     {"BINPERSID", "Q"},
                                     {"NEXT_BUFFER", "\227"},
                                     {"READONLY_BUFFER", "\230"}}};
  for (const Refused& refused : all) {
    std::string bytes("N");
    bytes.append(refused.bytes).append(".");
    const std::string error = error_of(bytes);
    EXPECT_TRUE(error.starts_with("pickle.refused_opcode")) << error;
    EXPECT_NE(error.find(fmt::format(" {} ", refused.name)), std::string::npos) << error;
  }
}

TEST(Pickle, RefusesWhatIsNoPickle) {
  EXPECT_EQ(error_of("\200\004?."), "pickle.malformed test: byte 2: no instruction of a pickle has the code 0x3f");
  EXPECT_EQ(code_of("\200\006N."), "pickle.newer_protocol");
  EXPECT_EQ(code_of(""), "pickle.truncated");
  EXPECT_EQ(code_of("N"), "pickle.truncated");
  EXPECT_EQ(code_of("."), "pickle.malformed");
  EXPECT_EQ(code_of("NN."), "pickle.malformed");
  EXPECT_EQ(code_of("(N."), "pickle.malformed") << "a mark is left over";
  EXPECT_EQ(code_of("e."), "pickle.malformed");
  EXPECT_EQ(code_of("](a."), "pickle.malformed") << "what lies below a mark is not to be taken";
  EXPECT_EQ(code_of("}(Nu."), "pickle.malformed") << "a key without a value";
  EXPECT_EQ(code_of("](NNu."), "pickle.malformed") << "a list is no dictionary";
  EXPECT_EQ(code_of("(Ne."), "pickle.malformed") << "there is no list";
  EXPECT_EQ(code_of("h\000."sv), "pickle.malformed");
  EXPECT_EQ(code_of("q\000N."sv), "pickle.malformed");
  EXPECT_EQ(code_of("0N."), "pickle.malformed");
  EXPECT_EQ(code_of("2."), "pickle.malformed");
}

TEST(Pickle, SaysWhereItEnds) {
  EXPECT_EQ(error_of("]\214\011abc"),
            "pickle.truncated test: byte 1: the file ends at byte 6, within what starts here");
  EXPECT_EQ(code_of("\216\377\377\377\377\377\377\377\377."sv), "pickle.truncated");
  EXPECT_EQ(code_of("I12"), "pickle.truncated");
}

TEST(Pickle, DoesNotReadBehindTheEnd) {
  const Tree tree = read_pickle("K\001.K\002.", "test");
  EXPECT_EQ(tree.root().integer(), 1);
  EXPECT_EQ(tree.bytes_used(), 3U);
}

// Forty lists of two, each twice in the next: 2^40 values where each is copied, 41 where it is not.
TEST(Pickle, AMemoBombStaysSmall) {
  std::string bytes("\200\004]\224");
  for (char i = 0; i < 40; ++i) bytes.append("0](h").append(1, i).append("h").append(1, i).append("e\224");
  bytes += '.';
  const Tree tree = read_pickle(bytes, "test");
  EXPECT_EQ(tree.values(), 41U);
  Value inner = tree.root();
  int depth = 0;
  for (; inner.size() == 2; inner = *inner.begin()) ++depth;
  EXPECT_EQ(depth, 40);
}

TEST(Pickle, AContainerMayHoldItself) {
  const Tree tree = read_pickle("]2a.", "test");
  ASSERT_EQ(tree.root().size(), 1U);
  EXPECT_EQ((*tree.root().begin()).index(), tree.root().index());
}

TEST(Pickle, BoundsTheDepth) {
  const auto nested = [](std::size_t lists) { return std::string(lists, ']') + std::string(lists - 1, 'a') + "."; };
  EXPECT_EQ(code_of(nested(kMaxDepth + 1)), "none");
  EXPECT_EQ(code_of(nested(kMaxDepth + 2)), "pickle.too_deep");
  // A list put into itself again and again.
  EXPECT_EQ(code_of(std::string("]").append(2 * kMaxDepth, '2').append(2 * kMaxDepth, 'a').append(".")),
            "pickle.too_deep");
}

TEST(Pickle, ANumberInTheMemoAsksForNoMemory) {
  EXPECT_EQ(code_of("Nr\377\377\377\177."sv), "pickle.too_large");
  EXPECT_EQ(code_of("Np18446744073709551615\n."), "pickle.too_large");
}

TEST(Pickle, AValueSaysOnlyWhatItIs) {
  const Tree tree = read_pickle("U\001x.", "test");
  EXPECT_EQ(tree.root().boolean(), std::nullopt);
  EXPECT_EQ(tree.root().integer(), std::nullopt);
  EXPECT_EQ(tree.root().unsigned_integer(), std::nullopt);
  EXPECT_EQ(tree.root().number(), std::nullopt);
  EXPECT_EQ(tree.root().size(), 0U);
  EXPECT_EQ(tree.root().find("x"), std::nullopt);
  EXPECT_EQ(tree.root().begin(), tree.root().end());
  EXPECT_EQ(read_pickle("I-1\n.", "test").root().unsigned_integer(), std::nullopt);
}

}  // namespace
}  // namespace interlace::ingest::pickle
