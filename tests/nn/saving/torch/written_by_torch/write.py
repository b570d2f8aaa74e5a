"""Writes the files of this folder with PyTorch 1.13: python3 write.py"""
import numpy as np
import torch
from torch import nn

torch.manual_seed(3)


def save(name, module, x):
    module.eval()
    torch.save(module.state_dict(), name + ".pt")
    with torch.no_grad():
        y = module(x)
    np.save(name + "_x.npy", x.numpy())
    np.save(name + "_y.npy", y.numpy())


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.depth = nn.Conv2d(8, 8, 3, groups=8, bias=False)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.group = nn.Conv2d(4, 8, 1, groups=2)
        self.head = nn.Linear(8, 5)
        for tensor in (self.norm.running_mean, self.norm.bias.data):
            tensor.normal_()
        for tensor in (self.norm.running_var, self.norm.weight.data):
            tensor.uniform_(0.5, 2)

    def forward(self, x):
        x = self.depth(torch.relu(self.norm(self.stem(x))))
        return self.head(self.group(self.up(x)).mean((2, 3)))


class Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(10, 4, batch_first=True)
        self.rnn = nn.RNN(4, 3, batch_first=True)
        self.out = nn.Linear(3, 2)

    def forward(self, x):
        for cell in (self.lstm, self.gru, self.rnn):
            x = cell(self.embed(x) if cell is self.lstm else x)[0]
        return self.out(x)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.norm.weight.data.normal_()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(self.norm(x + self.attention(x, x, x)[0]))


save("dense", nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), torch.randn(5, 4))
save("images", Images(), torch.randn(2, 3, 8, 8))
save("sequences", Sequences(), torch.randint(0, 11, (3, 7)))
save("attention", Attention(), torch.randn(2, 6, 8))

numbers = torch.arange(24, dtype=torch.float32).reshape(4, 6)
tensors = {
    "whole": numbers, "transposed": numbers.t(), "strided": numbers[::2, 1::2], "row": numbers[2],
    "expanded": torch.tensor([[1.0], [2.0]]).expand(2, 3), "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3),
    "bfloat16": torch.tensor([1.5, -2.25], dtype=torch.bfloat16),
    "float16": torch.tensor([1.5, 65504], dtype=torch.float16), "float64": torch.tensor([0.1], dtype=torch.float64),
    "int64": torch.tensor([2**40, -1]), "int32": torch.tensor([5, -6], dtype=torch.int32),
    "int16": torch.tensor([-5], dtype=torch.int16), "int8": torch.tensor([-128], dtype=torch.int8),
    "uint8": torch.tensor([255], dtype=torch.uint8), "bool": torch.tensor([True, False]),
    "parameter": nn.Parameter(torch.ones(2)),
}
torch.save(tensors, "dtypes.pt")

linear = nn.Linear(2, 2)
optimizer = torch.optim.Adam(linear.parameters())
linear(torch.ones(1, 2)).sum().backward()
optimizer.step()
torch.save({"epoch": 3, "loss": 0.25, "model": linear.state_dict(), "optimizer": optimizer.state_dict()}, "checkpoint.pt")
torch.save(linear.state_dict(), "old_format.pt", _use_new_zipfile_serialization=False)
torch.save(linear, "module.pt")
torch.jit.save(torch.jit.script(linear), "script.pt")
