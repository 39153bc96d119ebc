import { hash } from 'node:crypto';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Dense enough: more costs a second of every start and saves little. */
const BROTLI_QUALITY = 6;

interface Variant {
  /** Null is the text as it is. */
  encoding: 'br' | 'gzip' | null;
  tag: string;
  bytes: Buffer;
}

/**
 * Returns a handler for a response that does not change while the program runs: compressed once per encoding,
 * each with an ETag, so that a cached copy gets 304.
 *
 * @param text the text, or a function that creates it on the first request.
 */
export function staticResponse(type: string, text: string | (() => string)) {
  let variants: Variant[] | undefined;
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    variants ??= variantsOf(typeof text === 'string' ? text : text());
    const accepted = acceptedEncodings(request.headers['accept-encoding'] ?? '');
    const chosen = variants.find(({ encoding }) => encoding === null || accepted.has(encoding));
    if (chosen === undefined) throw new Error('the plain text is among the variants');
    reply.headers({
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      ETag: chosen.tag,
      Vary: [reply.getHeader('Vary'), 'Accept-Encoding'].flat().filter(Boolean).join(', '),
    });
    if (isKnown(request.headers['if-none-match'], variants)) return reply.status(304).send();
    if (chosen.encoding !== null) reply.header('Content-Encoding', chosen.encoding);
    return reply.type(type).send(chosen.bytes);
  };
}

/** The smallest first. */
function variantsOf(text: string): Variant[] {
  const bytes = Buffer.from(text);
  const tag = hash('sha256', bytes, 'base64url').slice(0, 22);
  const params = { [zlib.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  return [
    { encoding: 'br', tag: `"${tag}-br"`, bytes: brotliCompressSync(bytes, { params }) },
    { encoding: 'gzip', tag: `"${tag}-gzip"`, bytes: gzipSync(bytes) },
    { encoding: null, tag: `"${tag}"`, bytes },
  ];
}

/** RFC 9110, 12.5.3: names with `q=0` are refused, `*` stands for those that are not named. */
function acceptedEncodings(header: string): ReadonlySet<string> {
  const asked = new Map<string, boolean>();
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    asked.set(name, !parameters.some((part) => /^q=0(\.0*)?$/.test(part)));
  }
  const accepts = (name: string) => asked.get(name) ?? asked.get('*') ?? false;
  return new Set(['br', 'gzip'].filter(accepts));
}

function isKnown(ifNoneMatch: string | undefined, variants: Variant[]): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || variants.some(({ tag }) => tags.includes(tag));
}
