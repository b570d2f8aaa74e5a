"""Writes the files of this folder with PyTorch 1.13's exporter: python3 write.py"""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)


def export(name, module, *inputs, opset=17):
    module.eval()
    with torch.no_grad():
        y = module(*inputs)
    names = [f"x{i}" for i in range(len(inputs))]
    torch.onnx.export(module, inputs, name + ".onnx", opset_version=opset, input_names=names, output_names=["y"],
                      dynamic_axes={x: {0: "samples"} for x in names})
    for x, value in zip(names, inputs):
        np.save(f"{name}_{x}.npy", value.numpy())
    np.save(name + "_y.npy", y.numpy())


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return F.relu(self.path(x) + self.shortcut(x))


class Squeeze(nn.Module):
    def __init__(self):
        super().__init__()
        self.path = nn.Sequential(nn.Conv2d(4, 8, 1), nn.Hardswish(), nn.Conv2d(8, 8, 5, 1, 2, groups=8), nn.SiLU(),
                                  nn.Conv2d(8, 4, 1))
        self.weights = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 2, 1), nn.ReLU(), nn.Conv2d(2, 4, 1),
                                     nn.Hardsigmoid())

    def forward(self, x):
        y = self.path(x)
        return x + y * self.weights(y)


class Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 6)
        self.lstm = nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(10, 4, batch_first=True)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.gru(self.lstm(self.embed(x))[0])[0][:, -1])


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x, memory):
        mask = torch.triu(torch.full((5, 5), float("-inf")), 1)
        return self.layer(x, memory, tgt_mask=mask)


class Arrays(nn.Module):
    def forward(self, x):
        a = x.reshape(x.shape[0], -1)
        b = x.permute(0, 2, 1)[:, ::2, 1:]
        c = torch.cat([b, b * 2], 1).sum(1)
        return torch.cat([
            torch.where(c > 0, c, c.abs().sqrt()), torch.topk(a, 3, dim=1)[0], torch.cumsum(a, 1)[:, -2:],
            F.pad(x, (1, 2), value=1.0).mean(-1), torch.einsum("bij,bkj->bik", x, x).flatten(1),
            a.std(1, keepdim=True), a.argmax(1, keepdim=True).float(), torch.clamp(a, -0.5, 0.5),
            a.gather(1, torch.zeros(a.shape[0], 2, dtype=torch.long)), x.softmax(1).flatten(1), F.log_softmax(a, 1),
            torch.norm(a, dim=1, keepdim=True), a.masked_fill(a > 0, -1.0), torch.erf(a), a.prod(1, keepdim=True),
            a.max(1, keepdim=True)[0], torch.sin(a) + torch.exp(-a)], 1)


class Rows(nn.Module):
    def forward(self, x: torch.Tensor):
        y = x[0] * 0
        for i in range(x.shape[0]):
            if bool(x[i].sum() > 0):
                y = y + x[i]
            else:
                y = y - 1
        return y


for opset in (9, 13, 17):
    export(f"dense_{opset}", nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3), nn.Softmax(-1)),
           torch.randn(5, 4), opset=opset)
export("residual", nn.Sequential(nn.Conv2d(3, 4, 7, 2, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                                 Residual(4, 6, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3)),
       torch.randn(2, 3, 16, 16))
export("squeeze", Squeeze(), torch.randn(2, 4, 7, 7))
export("sequences", Sequences(), torch.randint(0, 20, (3, 7)))
export("encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu"), 1),
       torch.randn(2, 5, 8))
export("decoder", Decoder(), torch.randn(2, 5, 8), torch.randn(2, 6, 8))
export("arrays", Arrays(), torch.randn(3, 4, 5))
export("upsampling", nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.ConvTranspose2d(3, 4, 3, 2, 1, 1),
                                   nn.InstanceNorm2d(4, affine=True), nn.PReLU(4), nn.GroupNorm(2, 4), nn.AvgPool2d(2),
                                   nn.PixelShuffle(2)), torch.randn(2, 3, 4, 4))
export("resizing", nn.Sequential(nn.Upsample(scale_factor=2, mode="nearest"), nn.Upsample(size=(9, 9), mode="bicubic"),
                                 nn.LeakyReLU(0.1), nn.ELU(), nn.Softplus(), nn.Tanh(), nn.ReflectionPad2d(1)),
       torch.randn(1, 2, 4, 4))
export("signals", nn.Sequential(nn.Conv1d(3, 6, 3, dilation=2), nn.ReLU6(), nn.MaxPool1d(2), nn.Conv1d(6, 4, 1, groups=2),
                                nn.SELU(), nn.AdaptiveMaxPool1d(1)), torch.randn(2, 3, 16))
export("volumes", nn.Sequential(nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.Mish(), nn.AvgPool3d(2)),
       torch.randn(1, 2, 4, 4, 4))
export("rows", torch.jit.script(Rows()), torch.randn(4, 3), opset=15)
