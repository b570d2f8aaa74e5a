"""Tests the kernel through Jupyter's protocol. JUPYTER_PATH names the folder with the kernel's kernel.json."""
import time
import unittest

from jupyter_client.manager import start_new_kernel

PATIENCE = 300  # seconds, for machines that have much else to do


class Cell:
    """The outputs of a cell, in the order of their arrival."""

    def __init__(self):
        self.messages = []
        self.reply = {}

    def of(self, kind):
        return [content for name, content in self.messages if name == kind]

    def text(self, stream="stdout"):
        return "".join(content["text"] for content in self.of("stream") if content["name"] == stream)

    def displayed(self):
        return [content["data"] for content in self.of("display_data")]


class KernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manager, cls.client = start_new_kernel(kernel_name="ktape", startup_timeout=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.client.stop_channels()
        cls.manager.shutdown_kernel(now=True)

    def run_cell(self, code, on_message=lambda kind, content: None):
        cell = Cell()

        def hook(message):
            kind, content = message["msg_type"], message["content"]
            cell.messages.append((kind, content))
            on_message(kind, content)

        cell.reply = self.client.execute_interactive(code, timeout=PATIENCE, output_hook=hook)["content"]
        return cell

    def value(self, code):
        cell = self.run_cell(code)
        self.assertEqual(cell.reply["status"], "ok", cell.messages)
        return cell.of("execute_result")[0]["data"]

    def answer(self, message):
        reply = self.client.get_shell_msg(timeout=PATIENCE)
        while reply["parent_header"].get("msg_id") != message:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
        return reply["content"]

    def test_cells_share_a_session(self):
        self.run_cell("int n = 20;")
        self.assertEqual(self.value("n + 1")["text/plain"], "21")
        self.run_cell('string n = "again";')
        self.assertEqual(self.value("n")["text/plain"], '"again"')

    def test_streams_come_while_the_cell_runs(self):
        came = []
        self.run_cell("""
            for (int i = 0; i < 3; ++i) {
              cout << "line " << i << endl;
              std::this_thread::sleep_for(std::chrono::milliseconds(400));
            }
            cerr << "and errors" << endl;
            printf("C, too: ä");""",
            lambda kind, content: came.append((time.monotonic(), kind, content)))
        streams = [(at, content) for at, kind, content in came if kind == "stream"]
        self.assertGreater(streams[-1][0] - streams[0][0], 0.5)
        text = "".join(content["text"] for _, content in streams if content["name"] == "stdout")
        self.assertEqual(text, "line 0\nline 1\nline 2\nC, too: ä")
        self.assertEqual("".join(c["text"] for _, c in streams if c["name"] == "stderr"), "and errors\n")

    def test_text_and_values_keep_their_order(self):
        cell = self.run_cell('cout << "before\\n"; display(1); cout << "between\\n"; 2')
        kinds = [kind for kind, _ in cell.messages if kind not in ("status", "execute_input")]
        self.assertEqual(kinds, ["stream", "display_data", "stream", "execute_result"])

    def test_the_bar_of_fit_moves(self):
        cell = self.run_cell("""
            nn::Sequential slow({nn::Dense(1)});
            slow.compile({.loss = "mse"});
            auto of_slow = slow.fit(K::ones({80000, 64}), K::ones({80000, 1}), {.batch_size = 1, .epochs = 1});""")
        self.assertEqual(cell.reply["status"], "ok", cell.messages)
        self.assertGreater(cell.text().count("\r"), 1)
        self.assertIn("━", cell.text())
        self.assertIn("loss: ", cell.text())

    def test_a_tensor_is_a_table(self):
        data = self.value("K::variable({{1.5f, 2.f}, {3.f, 4.f}}, {.name = \"w\"})")
        self.assertIn("variable='w'", data["text/plain"])
        for part in ("<b>shape</b> (2, 2)", "<b>dtype</b> float32", "<b>variable</b> w", "<td>1.5</td>", "<th>1</th>"):
            self.assertIn(part, data["text/html"])
        self.assertNotIn("image/png", data)
        self.assertIn("<td>…</td>", self.value("K::zeros({100, 100})")["text/html"])
        self.assertIn("[1, 0, :, :]", self.value("K::zeros({2, 1, 3, 5})")["text/html"])
        self.assertIn("(0, 3)", self.value("K::zeros({0, 3})")["text/html"])
        scalar = self.value("K::sum(K::ones({2}))")["text/html"]
        self.assertIn("<div>2</div>", scalar)
        self.assertNotIn("<table>", scalar)

    def test_images_are_pictures(self):
        data = self.value("K::random_uniform({5, 16, 16, 3})")
        self.assertTrue(data["image/png"].startswith("iVBOR"))
        self.assertIn("<img ", data["text/html"])
        self.assertIn("image/png", self.value("K::zeros({12, 12}, {.dtype = \"uint8\"})"))

    def test_history_model_and_figures_are_drawn(self):
        self.run_cell("""
            nn::Sequential drawn({nn::Input({3}), nn::Dense(2, {.name = "two"}), nn::Dense(1)});
            drawn.compile({.loss = "mse", .metrics = {"mae"}});
            auto of_drawn = drawn.fit(K::ones({8, 3}), K::ones({8, 1}), {.epochs = 3, .verbose = 0});""")
        model = self.value("drawn")
        self.assertIn("<svg", model["image/svg+xml"])
        self.assertIn("two", model["image/svg+xml"])
        self.assertIn("Total params", model["text/plain"])
        history = self.value("of_drawn")
        self.assertEqual(history["text/html"].count("<div style=\"flex"), 2)
        self.assertIn("epoch", history["text/plain"])
        figure = self.value("plot::lines({1, 4, 9})")
        self.assertIn("<svg", figure["image/svg+xml"])
        self.assertIn("<svg", self.run_cell("%plot vector<int>{1, 4, 9}").displayed()[0]["image/svg+xml"])

    def test_errors_are_tracebacks(self):
        cell = self.run_cell("int before = 1;\nK::dot(K::ones({2, 2}),\n       K::ones({3, 3}));\nint after = 2;")
        self.assertEqual((cell.reply["status"], cell.reply["ename"]), ("error", "ValueError"))
        self.assertTrue(cell.reply["evalue"].startswith("[dot] "))
        error = cell.of("error")[0]
        self.assertIn(", line 2:", error["traceback"][0])
        self.assertTrue(any("----> 2 " in line and "K::dot(K::ones({2, 2})," in line for line in error["traceback"]))
        self.assertIn("[dot] ", error["traceback"][-1])
        self.assertEqual(self.value("before")["text/plain"], "1")
        cell = self.run_cell("int fine = 1;\nnonsense;")
        self.assertEqual(cell.reply["ename"], "CompileError")
        self.assertIn("]:2:1:", "\n".join(cell.of("error")[0]["traceback"]))
        self.assertEqual(self.run_cell("throw 42;").reply["ename"], "int")
        self.assertEqual(self.run_cell("*static_cast<volatile int*>(nullptr) = 1;").reply["ename"], "Crash")
        self.assertEqual(self.run_cell("%nothing").reply["ename"], "ValueError")

    def test_unbalanced_text_is_an_error(self):
        for code in ("struct W { int x : ", "int f() {\n\n  return 1;", "_Pragma(\"once", "namespace {", "f(", "{ ( ["):
            self.assertEqual(self.run_cell(code).reply["ename"], "CompileError", code)
        self.assertEqual(self.value("20 + 1")["text/plain"], "21")

    def test_names_complete(self):
        self.run_cell("Variable weights = K::zeros({2});")

        def completed(code, cursor=None):
            reply = self.answer(self.client.complete(code, cursor))
            return reply["matches"], reply["cursor_start"], reply["cursor_end"]

        self.assertEqual(completed("K::categorical_cross"), (["categorical_crossentropy"], 3, 20))
        self.assertEqual(completed("weigh"), (["weights"], 0, 5))
        self.assertIn("trainable", completed("weights.tr")[0])
        self.assertIn("trainable", completed("auto local = K::ones({2}); weights.tr")[0])
        self.assertEqual(completed('"ä"; weigh + 1', 10), (["weights"], 5, 10))
        self.assertEqual(completed("%wh"), (["%who"], 0, 3))
        self.assertEqual(completed("%time weigh"), (["weights"], 6, 11))

    def test_names_are_inspected(self):
        reply = self.answer(self.client.inspect("K::dot(x, y)", 5))
        self.assertTrue(reply["found"])
        self.assertIn("Tensor dot(", reply["data"]["text/plain"])
        self.assertTrue(self.answer(self.client.inspect("K::dot(", 7))["found"])
        self.assertFalse(self.answer(self.client.inspect("no_such_name", 3))["found"])

    def test_a_call_is_inspected_inside_of_its_parentheses(self):
        self.run_cell("nn::Sequential inspected({nn::Dense(1)});")

        def text(code):
            """The text about the place of the bar."""
            reply = self.answer(self.client.inspect(code.replace("|", ""), code.index("|")))
            return reply["data"]["text/plain"] if reply["found"] else ""

        for code in ("nn::Conv2D(|", "nn::Conv2D(32, 3, {.padding = \"same\", |", "nn::Conv2D(32|, 3)",
                     "nn::Co|nv2D(32, 3)", "nn::Sequential m({nn::Dense(3), nn::Conv2D(8, |", "auto c = nn::Conv2D|",
                     "nn::Conv2D(f(1, \")\"), |"):
            self.assertIn("class Conv2D", text(code), code)
            self.assertIn("  .padding = \"valid\"", text(code), code)
        self.assertIn("(FitOptions):", text("inspected.fit(K::ones({1}), |"))
        self.assertIn("Tensor dot(", text("K::dot(K::ones({2, 2}), |"))
        self.assertIn("class Sequential", text("nn::Sequential fresh(|"))
        self.assertIn("variable inspected", text("inspec|ted"))
        self.assertEqual(text("(1 + |"), "")

    def test_whole_cells_are_told_from_parts(self):
        self.assertEqual(self.answer(self.client.is_complete("int n = 1;"))["status"], "complete")
        reply = self.answer(self.client.is_complete("int f() {"))
        self.assertEqual((reply["status"], reply["indent"]), ("incomplete", "  "))

    def test_an_interrupt_ends_the_cell(self):
        self.manager.interrupt_kernel()  # between two cells: there is nothing to end
        self.run_cell("int steps = 0; Variable turning = K::variable({1.f});")
        for loop in ("while (true) { cout << 1 << endl; K::update(turning, turning + 1.f); }",
                     "while (true) { volatile int x = ++steps; }",
                     "std::this_thread::sleep_for(std::chrono::hours(1));"):
            sent = []

            def interrupt(kind, content):
                if kind == "stream" and not sent:
                    sent.append(self.manager.interrupt_kernel())

            cell = self.run_cell('cout << "begins" << endl;\n' + loop, interrupt)
            self.assertEqual(cell.reply["ename"], "Interrupted", loop)
        self.assertEqual(self.value("steps > 1")["text/plain"], "true")

    def test_an_interrupt_of_fit_ends_the_cell_and_says_so(self):
        self.run_cell("""
            nn::Sequential endless({nn::Dense(1)});
            endless.compile({.loss = "mse"});""")
        sent = []

        def interrupt(kind, content):
            if kind == "stream" and "Epoch 2/" in content["text"] and not sent:
                sent.append(self.manager.interrupt_kernel())

        cell = self.run_cell("""auto of_endless = endless.fit(K::ones({4096, 8}), K::ones({4096, 1}), {.epochs = 100000});
            cout << "aft" << "er" << endl;""", interrupt)
        self.assertEqual(cell.reply["ename"], "Interrupted")
        self.assertRegex(cell.reply["evalue"], r"\[fit\] interrupted in epoch \d+ of 100000\nthe rest of the cell did not run")
        self.assertNotIn("after", cell.text())
        self.assertTrue(any("----> 1 " in line for line in cell.of("error")[0]["traceback"]))
        self.assertEqual(self.value('of_endless["loss"].size() > 1')["text/plain"], "true")

    def test_silent_cells_say_nothing(self):
        message = self.client.execute('cout << "quiet" << endl; 1', silent=True)
        self.assertEqual(self.answer(message)["status"], "ok")
        self.assertEqual(self.run_cell("").text(), "")

    def test_input_is_asked_for(self):
        def answer(message):
            self.client.input("17 and more")

        cell = self.client.execute_interactive("int given = 0; cin >> given;", timeout=PATIENCE, allow_stdin=True,
                                               stdin_hook=answer, output_hook=lambda message: None)
        self.assertEqual(cell["content"]["status"], "ok")
        self.assertEqual(self.value("given")["text/plain"], "17")

    def test_z_a_restarted_kernel_begins_anew(self):
        self.run_cell("int old = 1;")
        self.manager.restart_kernel(now=False)
        self.client.wait_for_ready(timeout=PATIENCE)
        self.assertEqual(self.run_cell("old").reply["ename"], "CompileError")
        self.assertEqual(self.value("K::ones({1})")["text/plain"], "tensor([1.], shape=(1,), dtype=float32)")


if __name__ == "__main__":
    unittest.main()
