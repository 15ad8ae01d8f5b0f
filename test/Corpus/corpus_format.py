"""lit's format of the corpus: every case.json is a test, judged by check_case.py."""
import os
import subprocess

import lit.Test
import lit.formats


class CorpusCase(lit.formats.FileBasedTest):
    def execute(self, test, lit_config):
        folder = os.path.dirname(test.getSourcePath())
        script = os.path.join(test.suite.source_root, "Corpus", "check_case.py")
        p = subprocess.run(
            [test.config.python, script, folder,
             os.path.join(test.config.tools, "norm-fusion-opt"),
             os.path.join(test.config.tools, "norm-fusion-runner")],
            capture_output=True, text=True)
        return (lit.Test.FAIL if p.returncode else lit.Test.PASS), p.stdout + p.stderr
