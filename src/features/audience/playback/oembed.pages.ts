import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, notFound } from '../../../kernel/errors.ts';
import { EMBED_SIZE, embedFrame, type Picture, scaleToFit } from './media.views.ts';

/** Media that anyone with its URL can embed. */
export interface Embeddable {
  title: string;
  creator: { username: string; name: string | null };
  /** Size of the video; the player fits into any frame. */
  width: number;
  height: number;
  thumbnail: Picture | null;
}

interface Deps {
  /** URL without a trailing slash. */
  publicUrl: string;
  /** Host names of the pages. */
  hosts: readonly string[];
  /** Finds media by the ID in a watch or embed URL; null when it is missing or restricted. */
  find(id: string): Promise<Embeddable | null>;
}

type Query = { url?: unknown; format?: unknown; maxwidth?: unknown; maxheight?: unknown };

const PAGE = /^\/(?:watch|embed)\/([a-z]{3}_[0-9a-z]{26})\/?$/;
const CACHE_SEC = 3600;

/** Returns the oEmbed URL of a watch page. */
export function oembedUrl(publicUrl: string, watchUrl: string): string {
  return `${publicUrl}/oembed?url=${encodeURIComponent(watchUrl)}&format=json`;
}

/**
 * Registers `GET /oembed?url=&format=json&maxwidth=&maxheight=` (oembed.com): 404 for restricted media, 501
 * for XML, 400 without a URL.
 */
export function oembedPage({ publicUrl, hosts, find }: Deps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/oembed', async (request: FastifyRequest<{ Querystring: Query }>, reply) => {
      const { url, format = 'json', maxwidth, maxheight } = request.query;
      if (typeof url !== 'string' || !URL.canParse(url))
        throw badRequest('url', 'url must be the URL of a watch page.');
      if (format !== 'json')
        return reply
          .status(501)
          .type('text/plain; charset=utf-8')
          .send('The only supported format is JSON.\n');
      const max = {
        width: limit('maxwidth', maxwidth) ?? EMBED_SIZE.width,
        height: limit('maxheight', maxheight) ?? EMBED_SIZE.height,
      };
      const { hostname, pathname } = new URL(url);
      const isOurs = hosts.includes(hostname) || hostname === request.hostname;
      const id = isOurs ? PAGE.exec(pathname)?.[1] : undefined;
      const found = id === undefined ? null : await find(id);
      if (found === null) throw notFound();
      reply.header('Cache-Control', `public, max-age=${CACHE_SEC}`);
      return oembedOf(found, `${publicUrl}/embed/${id}`, publicUrl, max);
    });
  };
}

function oembedOf(
  { title, creator, thumbnail, ...size }: Embeddable,
  embedUrl: string,
  publicUrl: string,
  max: { width: number; height: number },
) {
  const { width, height } = scaleToFit(size, max);
  const picture =
    thumbnail === null || thumbnail.width > max.width || thumbnail.height > max.height ? null : thumbnail;
  return {
    type: 'video',
    version: '1.0',
    title,
    author_name: creator.name ?? creator.username,
    provider_name: 'Marquee',
    provider_url: publicUrl,
    cache_age: CACHE_SEC,
    html: embedFrame({ embedUrl, title }, { width, height, isFluid: false }),
    width,
    height,
    ...(picture && {
      thumbnail_url: picture.url,
      thumbnail_width: picture.width,
      thumbnail_height: picture.height,
    }),
  };
}

/** @throws {AppError} BAD_REQUEST. */
function limit(field: string, value: unknown): number | null {
  if (value === undefined || value === '') return null;
  const number = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (number < 1) throw badRequest(field, `${field} must be a whole number of pixels.`);
  return number;
}
