"""Plants one fault at a time in a small sound tree and sees the rule find it, there and only there."""

import tempfile
import unittest
from pathlib import Path

import build_lists
import catalogues
import forbidden
import layers
from source_tree import SourceTree

SOUND = {
    "simulator/base/error.hpp": '#pragma once\n#include <string>\ninline constexpr ErrorCode kBad{"base.bad"};\n',
    "simulator/base/error.cpp": '#include "simulator/base/error.hpp"\nvoid f() { throw Error(kBad); }\n',
    "simulator/base/CMakeLists.txt": "interlace_add_library(base SOURCES error.cpp HEADERS error.hpp)\n",
    "simulator/graph/graph.cpp": (
        '#include "simulator/base/error.hpp"\n#include "simulator/trace/trace.hpp"\n'
        'constexpr DiagnosticKind kLost{\n    "graph.lost", Severity::kDataLoss, "lost", "record again"};\n'
        "void g() { count(kLost); }\n"
    ),
    "simulator/graph/CMakeLists.txt": "interlace_add_library(graph SOURCES graph.cpp DEPENDS interlace_trace)\n",
    "simulator/trace/trace.hpp": "#pragma once\n",
    "simulator/trace/CMakeLists.txt": "interlace_add_library(trace HEADERS trace.hpp DEPENDS interlace_base)\n",
    "simulator/check/check.hpp": "#pragma once\n",
    "simulator/check/CMakeLists.txt": "interlace_add_library(check HEADERS check.hpp)\n",
    "gui/window.cpp": '#include <QWidget>\n#include "simulator/trace/trace.hpp"\n',
    "gui/CMakeLists.txt": "add_executable(interlace-gui window.cpp)\n",
    "tests/unit/base_test.cpp": '#include "simulator/base/error.hpp"\nTEST(E, e) { ErrorCode{"test.bad"}; }\n',
    "tests/unit/CMakeLists.txt": "interlace_add_test(test_base SOURCES base_test.cpp)\n",
    "docs/errors.md": "| code | meaning | what to do |\n|---|---|---|\n| `base.bad` | bad | mend |\n",
    "docs/diagnostics.md": (
        "| code | severity | meaning | advice |\n|---|---|---|---|\n| `graph.lost` | data loss | lost | record again |\n"
    ),
    "cmake/InterlaceDependencies.cmake": 'interlace_require(fmt PACKAGE libfmt-dev PURPOSE "text")\n',
    ".ci/packages.txt": "# a comment\nlibfmt-dev build formatted text\n",
}


class RulesTest(unittest.TestCase):
    def findings(self, rule, planted):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**SOUND, **planted}.items():
                file = Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return sorted(set(rule.check(SourceTree(root))))

    def expect(self, rule, path, line, words, planted):
        found = self.findings(rule, planted)
        self.assertEqual([(f.path, f.line) for f in found], [(path, line)], found)
        self.assertIn(words, found[0].problem)

    def plant(self, rule, path, text, words, line):
        """Appends text to a file (made where missing) and expects one finding at that line."""
        self.expect(rule, path, line, words, {path: SOUND.get(path, "") + text})

    def test_a_sound_tree_has_no_findings(self):
        for rule in (layers, forbidden, catalogues, build_lists):
            self.assertEqual(self.findings(rule, {}), [])

    def test_the_page_shows_the_table_of_layers(self):
        rows = [f"| {folder} | what it holds | {', '.join(direct)} |" for folder, direct in layers.DIRECT.items()]
        page = "\n".join(rows).replace("|  |", "| |")
        self.assertEqual(self.findings(layers, {"CONTRIBUTING.md": page}), [])
        wrong = page.replace("| graph | what it holds | trace |", "| graph | what it holds | base |")
        line = list(layers.DIRECT).index("graph") + 1
        self.expect(layers, "CONTRIBUTING.md", line, "graph may include trace", {"CONTRIBUTING.md": wrong})
        short = page[: page.index("| cli |")]
        self.expect(layers, "CONTRIBUTING.md", 0, "lacks cli", {"CONTRIBUTING.md": short})

    def test_layers(self):
        self.plant(layers, "simulator/trace/trace.hpp", '#include "simulator/check/check.hpp"\n', "may include base", 2)
        self.plant(layers, "simulator/base/error.hpp", '#include "simulator/trace/trace.hpp"\n', "nothing of ours", 4)
        self.plant(layers, "simulator/base/error.hpp", "#include <QString>\n", "must build without", 4)
        self.plant(layers, "simulator/base/error.cpp", "#include <cuda_runtime.h>\n", "must build without", 3)
        self.plant(layers, "simulator/base/error.cpp", "#include <torch/torch.h>\n", "must build without", 3)
        self.plant(layers, "simulator/base/error.cpp", '#include "error.hpp"\n', "not a path from the root", 3)
        self.plant(layers, "simulator/base/error.cpp", "#include <simulator/base/error.hpp>\n", "in quotes", 3)
        self.plant(layers, "gui/window.cpp", "#include <cupti.h>\n", "must build without", 3)

    def test_layers_between_top_folders(self):
        support = {"tests/support/fake.hpp": "#pragma once\n"}
        window = {"gui/window.hpp": "#pragma once\n"}
        for path, included in (
            ("engine/run.cpp", "simulator/trace/trace.hpp"),
            ("cupti_collector/writer.cpp", "simulator/graph/graph.cpp"),
            ("cupti_collector/session.cpp", "simulator/check/check.hpp"),
            ("simulator/graph/view.cpp", "gui/window.hpp"),
            ("simulator/graph/fake.cpp", "tests/support/fake.hpp"),
        ):
            planted = {**support, **window, path: f'#include "{included}"\n'}
            self.expect(layers, path, 1, included, planted)
        allowed = {"cupti_collector/writer.cpp": '#include "simulator/trace/trace.hpp"\n'}
        self.assertEqual(self.findings(layers, allowed), [])

    def test_layers_of_links_and_folders(self):
        self.plant(layers, "simulator/trace/CMakeLists.txt", "target_link_libraries(x interlace_check)\n", "link", 2)
        planted = {"simulator/helpers/a.hpp": "#pragma once\n"}
        self.expect(layers, "simulator/helpers", 0, "does not know", planted)

    def test_an_include_in_a_comment_is_none(self):
        planted = {"simulator/trace/trace.hpp": '#pragma once\n// #include "gui/window.hpp"\n/*\n#include <cuda.h>\n*/\n'}
        self.assertEqual(self.findings(layers, planted), [])

    def test_forbidden(self):
        self.plant(forbidden, "simulator/base/error.hpp", "using namespace std;\n", "using namespace", 4)
        self.plant(forbidden, "simulator/base/error.cpp", "\n" * 600, "602 lines", 0)
        self.plant(forbidden, "docs/errors.md", "see /home/me/trace.json\n", "path of one machine", 4)
        self.plant(forbidden, "tests/run.sh", "ls /root/traces\n", "path of one machine", 1)
        self.plant(forbidden, "docs/errors.md", "pip from https://pypi.org/simple\n", "package registry", 4)
        self.plant(forbidden, "simulator/base/bare.hpp", "struct A {};\n", "#pragma once", 0)
        self.expect(forbidden, "simulator/base/error.cpp", 0, "before all else",
                    {"simulator/base/error.cpp": "#include <string>\n" + SOUND["simulator/base/error.cpp"]})

    def test_forbidden_in_sources(self):
        self.plant(forbidden, "simulator/base/error.cpp", "using trace::LaneId;\n", "does not use the name LaneId", 3)
        self.plant(forbidden, "gui/window.cpp", "namespace fs = std::filesystem;  // fs\n", "the name fs", 3)
        self.plant(forbidden, "gui/window.cpp", '#include "gui/other.cpp"\n', "includes a source", 3)
        used = {"gui/window.cpp": "using trace::LaneId;\nnamespace fs = std::filesystem;\nfs::path a(LaneId);\n"}
        self.assertEqual(self.findings(forbidden, used), [])

    def test_a_relative_path_is_allowed(self):
        planted = {"docs/a.md": "samples/home/x, $HOME/work/x, ../work/x, build/root/x\n"}
        self.assertEqual(self.findings(forbidden, planted), [])

    def test_catalogues(self):
        code = "simulator/base/error.cpp"
        self.plant(catalogues, code, 'constexpr ErrorCode kNew{"base.new"};\nint x = kNew;\n', "docs/errors.md", 3)
        self.plant(catalogues, "docs/errors.md", "| `base.gone` | - | - |\n", "declared nowhere", 4)
        self.plant(catalogues, code, 'void g() { throw Error(ErrorCode{"base.bad"}); }\n', "not a constant", 3)
        self.plant(catalogues, "simulator/base/zebra.cpp", 'constexpr ErrorCode kBad{"base.bad"};\n', "twice", 1)
        kind = 'constexpr DiagnosticKind kOdd{"base.odd", Severity::kInfo, "m", "a"};\nint x = kOdd;\n'
        self.plant(catalogues, code, kind, "docs/diagnostics.md", 3)
        self.plant(catalogues, "docs/diagnostics.md", "| `graph.went` | info | - | - |\n", "declared nowhere", 4)

    def test_catalogues_of_form_use_severity_and_order(self):
        code = "simulator/base/error.cpp"
        listed = SOUND["docs/errors.md"]
        two = {code: SOUND[code] + 'constexpr ErrorCode kAbove{"base.above"};\nint x = kAbove;\n'}
        self.expect(catalogues, "docs/errors.md", 4, "sorted",
                    {**two, "docs/errors.md": listed + "| `base.above` | m | a |\n"})
        self.expect(catalogues, code, 3, "used nowhere",
                    {code: SOUND[code] + 'constexpr ErrorCode kIdle{"base.idle"};\n',
                     "docs/errors.md": listed + "| `base.idle` | m | a |\n"})
        self.expect(catalogues, code, 3, "area.name",
                    {code: SOUND[code] + 'constexpr ErrorCode kZ{"zz"};\nint x = kZ;\n',
                     "docs/errors.md": listed + "| `zz` | m | a |\n"})
        self.expect(catalogues, "docs/errors.md", 3, "filled cells",
                    {"docs/errors.md": listed.replace("| mend |", "| |")})
        self.expect(catalogues, "docs/diagnostics.md", 3, "severity",
                    {"docs/diagnostics.md": SOUND["docs/diagnostics.md"].replace("data loss", "info")})

    def test_build_lists(self):
        self.expect(build_lists, "simulator/base/orphan.cpp", 0, "does not name it", {"simulator/base/orphan.cpp": ""})
        self.expect(build_lists, "simulator/base/lone.hpp", 0, "does not name it", {"simulator/base/lone.hpp": ""})
        self.expect(build_lists, "tests/unit/lost_test.cpp", 0, "does not name it", {"tests/unit/lost_test.cpp": ""})
        self.plant(build_lists, ".ci/packages.txt", "libx-dev other something\n", "a group of", 3)
        self.plant(build_lists, "cmake/InterlaceDependencies.cmake", "interlace_require(a PACKAGE liba-dev)\n", "liba-dev", 2)


if __name__ == "__main__":
    unittest.main()
