"""Writes files as torch.save does, without PyTorch: python3 torch_files.py FOLDER

The layout is that of PyTorch 2: a zip archive of stored files, each written as to a stream (its sizes follow its
data) and aligned to 64 bytes: NAME/data.pkl, NAME/byteorder, NAME/data/KEY, NAME/version and NAME/.data/serialization_id.
The pickle has protocol 2; storages are persistent ids ('storage', type, key, 'cpu', number of elements).
"""
import collections
import io
import pickle
import struct
import sys
import tarfile
import types
import zipfile

torch = types.ModuleType('torch')
torch_utils = types.ModuleType('torch._utils')
sys.modules['torch'], sys.modules['torch._utils'] = torch, torch_utils
FORMATS = {'FloatStorage': 'f', 'DoubleStorage': 'd', 'HalfStorage': 'e', 'LongStorage': 'q', 'IntStorage': 'i',
           'ShortStorage': 'h', 'CharStorage': 'b', 'ByteStorage': 'B', 'BoolStorage': '?', 'BFloat16Storage': 'H',
           'ComplexFloatStorage': 'ff'}
for storage_name in FORMATS:
    setattr(torch, storage_name, type(storage_name, (), {'__module__': 'torch', '__qualname__': storage_name}))


class DType:
    """A dtype, which pickles as its name."""

    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return self.name


torch.float16 = DType('float16')
torch.float16.__module__ = 'torch'


class Size(tuple):
    def __reduce__(self):
        return Size, (tuple(self),)


Size.__module__, Size.__qualname__ = 'torch', 'Size'
torch.Size = Size


def function(name):
    def never(*arguments):
        raise RuntimeError('never called')
    never.__module__, never.__qualname__, never.__name__ = 'torch._utils', name, name
    setattr(torch_utils, name, never)
    return never


rebuild_tensor = function('_rebuild_tensor_v2')
rebuild_parameter = function('_rebuild_parameter')
rebuild_sparse = function('_rebuild_sparse_tensor')


class Storage:
    def __init__(self, kind, numbers):
        self.kind, self.numbers = kind, list(numbers)

    def bytes(self, order):
        form = FORMATS[self.kind]
        if form == 'ff':
            return b''.join(struct.pack(order + form, *pair) for pair in self.numbers)
        return b''.join(struct.pack(order + form, number) for number in self.numbers)


class Tensor:
    def __init__(self, storage, shape, stride=None, offset=0):
        self.storage, self.shape, self.offset = storage, tuple(shape), offset
        packed, strides = 1, []
        for extent in reversed(self.shape):
            strides.insert(0, packed)
            packed *= extent
        self.stride = tuple(stride) if stride is not None else tuple(strides)

    def __reduce__(self):
        return rebuild_tensor, (self.storage, self.offset, self.shape, self.stride, False, collections.OrderedDict())


class Parameter:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        return rebuild_parameter, (self.tensor, True, collections.OrderedDict())


class StateDict(collections.OrderedDict):
    """An OrderedDict with the attribute that state_dict() adds, which pickles as BUILD."""

    def __reduce__(self):
        return (collections.OrderedDict, (), {'_metadata': collections.OrderedDict({'': {'version': 1}})}, None,
                iter(self.items()))


class Stream(io.RawIOBase):
    """A file without positions, for which zipfile writes sizes after the data."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        if not self.file.closed:
            self.file.flush()


def save(path, value, protocol=2, order='<', name='archive', extra=None):
    storages, output = [], io.BytesIO()

    class Pickler(pickle.Pickler):
        def persistent_id(self, x):
            if not isinstance(x, Storage):
                return None
            if x not in storages:
                storages.append(x)
            return ('storage', getattr(torch, x.kind), str(storages.index(x)), 'cpu', len(x.numbers))

    Pickler(output, protocol).dump(value)
    files = {'data.pkl': output.getvalue(), '.format_version': b'1', 'byteorder': b'little' if order == '<' else b'big'}
    for key, storage in enumerate(storages):
        files['data/%d' % key] = storage.bytes(order)
    files['version'] = b'3\n'
    files['.data/serialization_id'] = b'1234567890123456789012345678901234567890'
    files.update(extra or {})
    with open(path, 'wb') as file, zipfile.ZipFile(Stream(file), 'w', zipfile.ZIP_STORED) as archive:
        for entry, data in files.items():
            info = zipfile.ZipInfo(name + '/' + entry, (1980, 0 + 1, 1, 0, 0, 0))
            begin = file.tell() + 30 + len(info.filename) + 4
            info.extra = b'FB' + struct.pack('<H', -begin % 64) + b'Z' * (-begin % 64)
            archive.writestr(info, data)


def floats(shape, first=0):
    count = 1
    for extent in shape:
        count *= extent
    return Tensor(Storage('FloatStorage', range(first, first + count)), shape)


class Evil:
    """An object whose pickle calls a function of Python."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def checkpoint():
    """What a training loop saves: the state of a model, of an optimizer and of a schedule, and arguments."""
    model = StateDict()
    shared = Storage('HalfStorage', [i / 4 for i in range(24)])
    model['embed.weight'] = Tensor(shared, (4, 3), (6, 1), 2)
    model['head.weight'] = Tensor(shared, (4, 3), (6, 1), 2)  # tied: the same view of the same storage
    model['norm.running_var'] = Tensor(Storage('BFloat16Storage', [0x3f80, 0x4000, 0xbfc0, 0x7f80]), (2, 2), (1, 2))
    model['norm.num_batches_tracked'] = Tensor(Storage('LongStorage', [1 << 40]), ())
    moments = {0: {'step': Tensor(Storage('FloatStorage', [12]), ()), 'exp_avg': floats((2, 2))}}
    groups = [{'lr': 1e-3, 'betas': (0.9, 0.999), 'amsgrad': False, 'params': [0]}]
    return {'model': model, 'optimizer': {'state': moments, 'param_groups': groups}, 'epoch': 7, 'best': float('inf'),
            'dtype': torch.float16, 'shape': Size((4, 3))}


def attacks():
    """Pickles that a reader must refuse, with what they would do."""
    import builtins
    import os
    import subprocess
    yield 'evil.pt', {'x': Evil(os.system, 'touch executed')}
    yield 'eval.pt', Evil(builtins.eval, "open('executed', 'w')")
    yield 'exec.pt', {'x': Evil(builtins.exec, 'import os')}
    yield 'process.pt', [Evil(subprocess.Popen, ['touch', 'executed'])]
    yield 'sparse.pt', {'x': Evil(rebuild_sparse, floats((1,)))}


def raw(path, pickle_bytes):
    """Writes a file whose pickle is given byte for byte."""
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_STORED) as archive:
        archive.writestr('archive/data.pkl', pickle_bytes)
        archive.writestr('archive/version', b'3\n')


def main(folder):
    def to(name):
        return folder + '/' + name

    shared = Storage('FloatStorage', range(12))
    state = StateDict()
    state['fc.weight'] = floats((2, 3))
    state['fc.bias'] = Parameter(floats((2,), 10))
    state['view.transposed'] = Tensor(shared, (4, 3), (1, 4))
    state['view.part'] = Tensor(shared, (2, 2), (4, 1), 5)
    state['view.expanded'] = Tensor(shared, (3, 2), (0, 1), 2)
    state['scalar'] = Tensor(Storage('LongStorage', [-5]), ())
    state['empty'] = Tensor(Storage('FloatStorage', []), (0, 3))
    save(to('state.pt'), state)
    save(to('protocol4.pt'), dict(state), protocol=4)
    save(to('protocol5.pt'), dict(state), protocol=5, name='other')

    dtypes = collections.OrderedDict()
    dtypes['half'] = Tensor(Storage('HalfStorage', [0.5, -2]), (2,))
    dtypes['double'] = Tensor(Storage('DoubleStorage', [1e-300, 3]), (2,))
    dtypes['bfloat16'] = Tensor(Storage('BFloat16Storage', [0x3f80, 0xc000]), (2,))
    dtypes['int32'] = Tensor(Storage('IntStorage', [-7, 8]), (2,))
    dtypes['int16'] = Tensor(Storage('ShortStorage', [-7, 8]), (2,))
    dtypes['int8'] = Tensor(Storage('CharStorage', [-7, 8]), (2,))
    dtypes['uint8'] = Tensor(Storage('ByteStorage', [7, 255]), (2,))
    dtypes['bool'] = Tensor(Storage('BoolStorage', [True, False]), (2,))
    save(to('dtypes.pt'), dtypes)
    save(to('big.pt'), dtypes, order='>')

    save(to('nested.pt'), {'epoch': 3, 'lr': 0.5, 'name': 'run', 'best': None, 'size': Size((2, 3)), 'big': 1 << 40,
                           'model': {'w': floats((2,))}, 'optimizer': {'state': {0: {'m': floats((2,), 5)}}},
                           'list': [floats((1,)), (floats((1,), 1), True)]})
    save(to('one.pt'), floats((2, 2)))

    save(to('checkpoint.pt'), checkpoint())
    for attack, value in attacks():
        save(to(attack), value)
    raw(to('long.pt'), b'\x80\x02\x8b\xff\xff\xff\x7f' + b'\x01' * 64 + b'.')  # an integer of 2 GB
    raw(to('bits.pt'), b'\x80\x02\x8a\x09' + b'\x01' * 9 + b'.')
    raw(to('memo.pt'), b'\x80\x02]r\xff\xff\xff\xff.')  # a memo of 4 billion values
    raw(to('copies.pt'), b'\x80\x02]q\x00' + b'h\x00' * 1200000 + b'.')
    raw(to('itself.pt'), b'\x80\x02]q\x00h\x00a.')  # a list that is its own item
    raw(to('marks.pt'), b'\x80\x02' + b'(' * 1200000 + b'.')
    raw(to('name.pt'), b'\x80\x02c\x1b[31mos\nsys\ttem\n.')
    raw(to('inst.pt'), b"\x80\x02(S'touch executed'\nios\nsystem\n.")
    with tarfile.open(to('tar.pt'), 'w') as archive:  # the format of 2016
        for entry in ('sys_info', 'storages', 'tensors', 'pickle'):
            info = tarfile.TarInfo(entry)
            info.size = 3
            archive.addfile(info, io.BytesIO(b'N.\n'))
    save(to('complex.pt'), {'x': Tensor(Storage('ComplexFloatStorage', [(1, 2)]), (1,))})
    save(to('beyond.pt'), {'x': Tensor(Storage('FloatStorage', [1, 2]), (3,))})
    save(to('negative.pt'), {'x': Tensor(Storage('FloatStorage', [1, 2]), (2,), (-1,), 1)})
    save(to('huge.pt'), {'x': Tensor(Storage('FloatStorage', [1]), (1 << 20, 1 << 20), (0, 0))})
    save(to('overflow.pt'), {'x': Tensor(Storage('FloatStorage', [1]), (1 << 62, 1 << 62), (1 << 62, 1))})
    save(to('script.pt'), {'x': 1}, extra={'constants.pkl': b'', 'code/__torch__.py': b''})
    laughs = {}
    for _ in range(60):
        laughs = {'a': laughs, 'b': laughs}
    save(to('laughs.pt'), laughs)
    deep = []
    for _ in range(300):
        deep = [deep]
    save(to('deep.pt'), deep)
    with open(to('older.pt'), 'wb') as file:
        pickle.dump(0x1950a86a20f9469cfc6c, file, 2)
        pickle.dump(1001, file, 2)
    with open(to('plain.pt'), 'wb') as file:
        pickle.dump({'x': 1}, file, 2)

    # A network with a layer of each kind.
    net = StateDict()
    def add(name, shape):
        net[name] = floats(shape, len(net) * 7)
    add('conv.weight', (4, 3, 2, 5)), add('conv.bias', (4,))
    add('bn.weight', (4,)), add('bn.bias', (4,)), add('bn.running_mean', (4,)), add('bn.running_var', (4,))
    net['bn.num_batches_tracked'] = Tensor(Storage('LongStorage', [9]), ())
    add('depthwise.weight', (8, 1, 2, 2)), add('depthwise.bias', (8,))
    add('up.weight', (8, 2, 3, 2)), add('up.bias', (2,))
    add('fc.weight', (5, 6)), add('fc.bias', (5,))
    save(to('net.pt'), net)
    rnn = StateDict()
    for layer, suffixes in ((0, ('', '_reverse')), (1, ('', '_reverse'))):
        for suffix in suffixes:
            for name, shape in (('weight_ih', (8, 3 if layer == 0 else 4)), ('weight_hh', (8, 2)), ('bias_ih', (8,)),
                                ('bias_hh', (8,))):
                rnn['lstm.%s_l%d%s' % (name, layer, suffix)] = floats(shape, 100 * layer + len(rnn))
    rnn['gru.weight_ih_l0'], rnn['gru.weight_hh_l0'] = floats((6, 4)), floats((6, 2), 50)
    rnn['gru.bias_ih_l0'], rnn['gru.bias_hh_l0'] = floats((6,), 3), floats((6,), 30)
    save(to('rnn.pt'), rnn)
    attention = StateDict()
    for name, shape in (('attn.in_proj_weight', (12, 4)), ('attn.in_proj_bias', (12,)), ('attn.out_proj.weight', (4, 4)),
                        ('attn.out_proj.bias', (4,)), ('fc.weight', (3, 4)), ('fc.bias', (3,))):
        count = 1
        for extent in shape:
            count *= extent
        attention[name] = Tensor(Storage('FloatStorage', [((7 * i + len(attention)) % 11 - 5) / 8 for i in range(count)]),
                                 shape)
    save(to('attention.pt'), attention)


main(sys.argv[1])
