"""cell.py CODE RESULT: runs a cell in the installed kernel for Jupyter, and compares the text of its result."""
import sys

from jupyter_client.manager import start_new_kernel

code, expected = sys.argv[1:]
manager, client = start_new_kernel(kernel_name="ktape", startup_timeout=120)
results = []
reply = client.execute_interactive(code, timeout=120, output_hook=lambda message: results.append(message["content"]))
client.stop_channels()
manager.shutdown_kernel(now=True)
shown = [content["data"]["text/plain"] for content in results if "data" in content]
print(shown)
sys.exit(0 if reply["content"]["status"] == "ok" and any(expected in text for text in shown) else 1)
