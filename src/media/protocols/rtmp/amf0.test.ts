import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AmfValue, decodeAmf0, encodeAmf0 } from './amf0.ts';
import { ProtocolError } from './protocol-error.ts';

const amfValue = fc.letrec<{ value: AmfValue; leaf: AmfValue }>((tie) => ({
  leaf: fc.oneof(
    fc.constant(null),
    fc.constant(undefined),
    fc.boolean(),
    fc.double(),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.date({ noInvalidDate: true }),
  ),
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 5 },
    tie('leaf'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 10 }), tie('value'), { maxKeys: 4 }),
  ),
}));

/** Converts decoded objects, which have no prototype, for comparison by their own properties. */
function plain(value: AmfValue): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return new Map(Object.entries(value).map(([name, child]) => [name, plain(child)]));
}

test('encoded values decode to equal values', () => {
  fc.assert(
    fc.property(fc.array(amfValue.value, { maxLength: 5 }), (values) => {
      assert.deepEqual(decodeAmf0(encodeAmf0(values)).map(plain), values.map(plain));
    }),
  );
});

test('garbage decodes or fails with a ProtocolError, never otherwise', () => {
  // Markers first, so that many inputs get past the first byte.
  const bytes = fc.oneof(fc.integer({ min: 0, max: 17 }), fc.integer({ min: 0, max: 255 }));
  let failures = 0;
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 200 }), (input) => {
      try {
        decodeAmf0(Buffer.from(input));
      } catch (error) {
        assert.ok(error instanceof ProtocolError);
        failures++;
      }
    }),
    { numRuns: 2000 },
  );
  assert.ok(failures > 100);
});

test('a cut value is refused at every length', () => {
  const whole = encodeAmf0([{ a: [1, 'two', null], b: { c: true } }]);
  for (let length = 1; length < whole.length; length++) {
    assert.throws(() => decodeAmf0(whole.subarray(0, length)), ProtocolError);
  }
});

test('ECMA arrays, typed objects, long strings and XML are read', () => {
  const end = '000009';
  assert.deepEqual(
    plain(decodeAmf0(Buffer.from(`08000000010001610101${end}`, 'hex'))[0]),
    new Map([['a', true]]),
  );
  assert.deepEqual(
    plain(decodeAmf0(Buffer.from(`1000015800016105${end}`, 'hex'))[0]),
    new Map([['a', null]]),
  );
  assert.deepEqual(decodeAmf0(Buffer.from('0c000000026869', 'hex')), ['hi']);
  assert.deepEqual(decodeAmf0(Buffer.from('0f000000026869', 'hex')), ['hi']);
  const long = 'x'.repeat(65536);
  assert.deepEqual(decodeAmf0(encodeAmf0([long]), { depth: 1, stringBytes: 65536, values: 1 }), [long]);
});

test('depth, string length and number of values are bounded', () => {
  const deep = Buffer.from(`${'0a00000001'.repeat(17)}05`, 'hex');
  assert.throws(() => decodeAmf0(deep), /nested too deeply/);
  const claimed = Buffer.from(`0affffffff${'05'.repeat(40)}`, 'hex');
  assert.throws(() => decodeAmf0(claimed), /array longer than the data/);
  assert.throws(() => decodeAmf0(Buffer.alloc(3000, 0x05)), /too many values/);
  assert.throws(() => decodeAmf0(encodeAmf0(['x'.repeat(65537)])), /string too long/);
});

test('a property named __proto__ is data', () => {
  const [value] = decodeAmf0(
    Buffer.from('030009 5f5f70726f746f5f5f 0300016101 01000009000009'.replaceAll(' ', ''), 'hex'),
  );
  assert.deepEqual(plain(value), new Map([['__proto__', new Map([['a', true]])]]));
  assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
});
