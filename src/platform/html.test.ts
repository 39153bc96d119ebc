import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { html } from './html.ts';

test('text and attributes are escaped', () => {
  const title = `"><script>alert('1')</script>&\``;
  const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&#96;';
  assert.equal(`${html`<p title="${title}">${title}</p>`}`, `<p title="${escaped}">${escaped}</p>`);
});

test('markup nests, lists join, empty values leave nothing', () => {
  const items = ['a<', 'b'].map((item) => html`<li>${item}</li>`);
  assert.equal(
    `${html`<ul>${items}</ul>${null}${undefined}${false}${0}`}`,
    '<ul><li>a&lt;</li><li>b</li></ul>0',
  );
});

test('backslashes stay and broken Unicode becomes the replacement character', () => {
  assert.equal(`${html`<p>${'a\\n\0\ud800b'}</p>`}`, '<p>a\\n\uFFFD\uFFFDb</p>');
});

test('no value can open a tag or leave a quoted attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const page = String(html`<p title="${text}">${[text]}</p>`);
      assert.match(page, /^<p title="[^"<>]*">[^"<>]*<\/p>$/);
    }),
  );
});
