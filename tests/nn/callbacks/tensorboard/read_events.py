"""Prints the events in a TensorBoard file, read with Google's library for protocol buffers."""
import struct
import sys

from google.protobuf import descriptor_pb2, descriptor_pool

try:
    from google.protobuf.message_factory import GetMessageClass
except ImportError:
    from google.protobuf.message_factory import MessageFactory

    GetMessageClass = MessageFactory().GetPrototype

DOUBLE, INT64, INT32, STRING, MESSAGE, BYTES = 1, 3, 5, 9, 11, 12
# The fields of event.proto, summary.proto, tensor.proto and tensor_shape.proto: number, type, whether the field repeats.
MESSAGES = {
    "Event": {"wall_time": (1, DOUBLE), "step": (2, INT64), "file_version": (3, STRING),
              "summary": (5, "Summary"), "source_metadata": (10, "SourceMetadata")},
    "SourceMetadata": {"writer": (1, STRING)},
    "Summary": {"value": (1, "Value", True)},
    "Value": {"tag": (1, STRING), "metadata": (9, "Metadata"), "tensor": (8, "Tensor")},
    "Metadata": {"plugin_data": (1, "PluginData")},
    "PluginData": {"plugin_name": (1, STRING), "content": (2, BYTES)},
    "Tensor": {"dtype": (1, INT32), "tensor_shape": (2, "TensorShape"), "tensor_content": (4, BYTES),
               "string_val": (8, BYTES, True)},
    "TensorShape": {"dim": (2, "Dim", True)},
    "Dim": {"size": (1, INT64)},
}


def event_class():
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="events", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, (number, kind, *repeats) in fields.items():
            field = message.field.add(name=field_name, number=number, label=3 if repeats else 1)
            if isinstance(kind, str):
                field.type, field.type_name = MESSAGE, ".events." + kind
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("events.Event"))


def value_text(tensor):
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    if tensor.dtype == 7:
        return f"text {shape} {tensor.string_val[0].decode()}"
    name, code, size = {1: ("float32", "f", 4), 2: ("float64", "d", 8)}[tensor.dtype]
    numbers = struct.unpack(f"<{len(tensor.tensor_content) // size}{code}", tensor.tensor_content)
    return f"{name} {shape} {numbers[0] if not shape else sum(numbers[2::3])}"


Event = event_class()
with open(sys.argv[1], "rb") as file:
    while header := file.read(12):
        event = Event.FromString(file.read(struct.unpack("<Q", header[:8])[0]))
        file.read(4)
        if event.file_version:
            print(event.file_version, event.source_metadata.writer)
        for value in event.summary.value:
            plugin = value.metadata.plugin_data
            print(value.tag, event.step, plugin.plugin_name, plugin.content, value_text(value.tensor))
