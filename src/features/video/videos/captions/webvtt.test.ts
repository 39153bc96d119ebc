import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readWebVtt, toWebVtt } from './webvtt.ts';

const vtt = (...lines: string[]) => ['WEBVTT', '', ...lines].join('\n');
/** Returns the parsed text of one cue. */
const cueText = (text: string) =>
  toWebVtt(vtt('00:01.000 --> 00:02.000', text), 'file').split('\n').slice(3).join('\n').trimEnd();

describe('accepted input', () => {
  test('WebVTT with names, settings, comments, styles and regions', () => {
    const text = [
      '\uFEFFWEBVTT - A title\r\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0',
      '',
      'STYLE',
      '::cue { background: url(https://evil.example.com) }',
      '',
      'REGION',
      'id:fred',
      '',
      'NOTE a comment',
      'of two lines',
      '',
      'second',
      '01:00:03.500 --> 01:00:05.000 align:start position:10%,line-left region:fred onclick:alert(1)',
      'Two',
      'lines',
      '',
      '',
      '00:01.000 --> 00:02.000',
      'First',
    ].join('\r\n');
    assert.equal(
      toWebVtt(text, 'file'),
      [
        'WEBVTT',
        '',
        '00:00:01.000 --> 00:00:02.000',
        'First',
        '',
        '01:00:03.500 --> 01:00:05.000 align:start position:10%,line-left',
        'Two\nlines',
        '',
      ].join('\n'),
    );
  });

  test('SubRip, with its commas, coordinates and fonts', () => {
    const text = [
      '1',
      '00:00:01,5 --> 00:00:02,250 X1:40 X2:600',
      '{\\an8}<font color="#ff0000">Red</font> & <i>slanted</i>',
      '',
      '2',
      '0:00:03,000 --> 0:00:04,000',
      'Second',
    ].join('\n');
    assert.equal(
      toWebVtt(text, 'file'),
      'WEBVTT\n\n00:00:01.500 --> 00:00:02.250\nRed &amp; <i>slanted</i>\n\n00:00:03.000 --> 00:00:04.000\nSecond\n',
    );
  });

  test('parsing the output again returns the same text', () => {
    const once = toWebVtt(vtt('00:01.000 --> 00:02.000', '<v Ann & Bob>a < b <b>and</b> &lt;i&gt;'), 'file');
    assert.equal(toWebVtt(once, 'file'), once);
  });
});

describe('served text', () => {
  const cases: [given: string, served: string][] = [
    ['plain', 'plain'],
    ['a < b > c & d', 'a &lt; b &gt; c &amp; d'],
    ['&amp;&lt;&gt;&nbsp;&quot;', '&amp;&lt;&gt;\u00A0&amp;quot;'],
    ['<script>alert(1)</script>', 'alert(1)'],
    ['<img src=x onerror=alert(1)>Hi', 'Hi'],
    ['&lt;script&gt;alert(1)&lt;/script&gt;', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['<b.loud onclick=x>bold</b>', '<b>bold</b>'],
    ['<i>never closed', '<i>never closed</i>'],
    ['</i>never opened', 'never opened'],
    ['<b><i>wrong</b> order</i>', '<b><i>wrong</i></b> order'],
    ['<v.first Ann "x" & Bob>Hello', '<v Ann "x" &amp; Bob>Hello</v>'],
    ['<v Ann>Hi <v Bob>Ho', '<v Ann>Hi </v><v Bob>Ho</v>'],
    ['<b>very <b>bold</b></b>', '<b>very bold</b>'],
    ['I <3 it', 'I &lt;3 it'],
    ['<c.yellow>colour</c><00:00:01.500> and time', 'colour and time'],
    ['<<b>>x', '&lt;<b>&gt;x</b>'],
    ['tab\tand \u0007bell\u001B[31m', 'tab\tand bell[31m'],
  ];
  for (const [given, served] of cases) {
    test(JSON.stringify(given), () => assert.equal(cueText(given), served));
  }

  test('a cue without text is left out, and tags do not produce an empty line', () => {
    const text = vtt(
      '00:01.000 --> 00:02.000',
      '<b></b>',
      '',
      '00:02.000 --> 00:03.000',
      '<c>',
      'word',
      '</c>',
    );
    assert.equal(toWebVtt(text, 'file'), 'WEBVTT\n\n00:00:02.000 --> 00:00:03.000\nword\n');
  });
});

describe('rejected input', () => {
  const refused: [name: string, text: string, line: RegExp][] = [
    ['nothing', '', /No cues/],
    ['a header alone', 'WEBVTT\n', /No cues/],
    ['a page', '<!doctype html>\n<p>Hello</p>', /^Line 2/],
    ['a time without hours and milliseconds', vtt('00:01 --> 00:02', 'x'), /^Line 3: invalid time/],
    ['an arrow without spaces', vtt('00:01.000-->00:02.000', 'x'), /^Line 3/],
    ['an end before the start', vtt('00:02.000 --> 00:01.000', 'x'), /^Line 3: the cue ends/],
    ['an end at the start', vtt('00:01.000 --> 00:01.000', 'x'), /^Line 3/],
    ['61 seconds', vtt('00:61.000 --> 01:02.000', 'x'), /^Line 3/],
    ['a comma in WebVTT', vtt('00:00:01,000 --> 00:00:02,000', 'x'), /^Line 3/],
    [
      'no empty line between cues',
      vtt('00:01.000 --> 00:02.000', 'x', '00:02.000 --> 00:03.000', 'y'),
      /^Line 5/,
    ],
    ['words between cues', vtt('00:01.000 --> 00:02.000', 'x', '', 'words'), /^Line 7/],
    [
      'a cue as long as a book',
      vtt('00:01.000 --> 00:02.000', 'x'.repeat(10_001)),
      /^Line 4: a cue must have/,
    ],
    ['another header', 'WEBVTTX\n\n00:01.000 --> 00:02.000\nx', /^Line 2/],
  ];
  for (const [name, text, message] of refused) {
    test(name, () => {
      assert.throws(() => toWebVtt(text, 'content'), { code: 'BAD_REQUEST', field: 'content', message });
    });
  }
});

describe('captions written by programs', () => {
  const cue = (second: number, text: string) =>
    `00:00:0${second}.000 --> 00:00:0${second + 1}.000\n${text}\n`;
  const read = (...blocks: string[]) => readWebVtt(['WEBVTT\n', ...blocks].join('\n'), 0);
  const served = (...cues: string[]) => ['WEBVTT\n', ...cues].join('\n');
  const cases: [name: string, given: string, served: string][] = [
    ['a cue of no length', '00:03.000 --> 00:03.000\nx\n\nof it\n', ''],
    ['an end before the start', '00:03.000 --> 00:02.000\nx\n', ''],
    ['a time that nobody can read', '00:-1.-500 --> 00:03.000\nx\n', ''],
    ['an empty line in a cue', '00:03.000 --> 00:04.000\none\n\ntwo\n', cue(3, 'one\ntwo')],
    ['a cue that begins with empty lines', '00:03.000 --> 00:04.000\n\n\nlate\n', cue(3, 'late')],
    ['an arrow in words', '00:03.000 --> 00:04.000\n1 --> b\n', cue(3, '1 --&gt; b')],
    [
      'no empty line between cues',
      '00:03.000 --> 00:04.000\nx\n00:04.000 --> 00:05.000\ny\n',
      `${cue(3, 'x')}\n${cue(4, 'y')}`,
    ],
    ['a comma, and a name', 'name\n00:00:03,000-->00:00:04,000\nx\n', cue(3, 'x')],
    ['more than anybody reads', `00:03.000 --> 00:04.000\n${'x'.repeat(10_001)}\n`, ''],
    ['a drawing', '00:03.000 --> 00:04.000\nm 0 0 l 100.5 0 100 -100 b 1 2 3 4 5 6\n', ''],
    ['a space of ASS', '00:03.000 --> 00:04.000\nm 5 people\\hcame\n', cue(3, 'm 5 people came')],
  ];
  for (const [name, given, expected] of cases) {
    test(name, () => {
      const around = [cue(1, 'first'), cue(8, 'last')] as const;
      const [before, after] = around;
      const all = expected === '' ? served(before, after) : served(before, expected, after);
      assert.equal(read(before, given, after), all);
      assert.equal(read(given), expected === '' ? null : served(expected));
    });
  }
});

test('a megabyte of arbitrary text is parsed quickly', () => {
  const size = 1_000_000;
  const hostile = ['<', '{\\', '<b>', '-->', '&', '\n', '0:', ' ', '<v ', '<b></i>'].flatMap((unit) => [
    unit.repeat(size / unit.length),
    vtt('00:01.000 --> 00:02.000', unit.replace('-->', '->').repeat(size / unit.length)),
  ]);
  const start = performance.now();
  for (const text of hostile) {
    try {
      readWebVtt(text, 0);
      assert.ok(toWebVtt(text, 'file').length > 0);
    } catch (error) {
      assert.match(String(error), /Line \d+|No cues/);
    }
  }
  assert.ok(performance.now() - start < 10_000, `${performance.now() - start} ms`);
});
