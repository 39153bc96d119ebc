import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../platform/logger.ts';

/** Addresses, from the root of the site, that a page names in its head. */
export interface PageAssets {
  scripts: string[];
  styles: string[];
  /** Modules that the scripts import immediately. */
  preloads: string[];
  /** Modules that the scripts may load later. */
  lazy: string[];
}

/** The built web pages (`web/dist`): their addresses for pages, their bytes for browsers. */
export interface WebAssets {
  /**
   * Returns the files of an entry of the build (`watch/main.ts`, `site/site.css`); null while there is no
   * build.
   *
   * @throws {Error} when the build lacks the entry: a bug in the program.
   */
  entry(source: string): PageAssets | null;
  /** Returns the URL of an image or other file of the build, by its source (`site/icon.svg`). */
  url(source: string): string | null;
  /** Registers `GET /assets/*`. */
  register(app: FastifyInstance): void;
}

interface Chunk {
  file: string;
  css: string[];
  imports: string[];
  dynamicImports: string[];
}

/** Message that pages show and the log contains when the build is missing. */
export const NOT_BUILT =
  'The web pages have not been built. Run "npm start", or "npx vite build --config web/vite.config.ts" and restart.';

const YEAR_MS = 31_536_000_000;

/** Reads the build's manifest, once: a new build needs a new start. */
export function loadAssets({ dir, log }: { dir: string; log: Logger }): WebAssets {
  const chunks = readManifest(join(dir, 'manifest.json'));
  if (chunks === null) log.warn(NOT_BUILT);
  return {
    entry: (source) => (chunks === null ? null : pageAssets(chunks, source)),
    url: (source) => {
      const chunk = chunks?.get(source);
      return chunk === undefined ? null : `/${chunk.file}`;
    },
    register: (app) => {
      if (chunks !== null) void app.register((scope) => serveFiles(scope, join(dir, 'assets')));
    },
  };
}

/** One route for all of them: a route for each took a twentieth of the start, and memory for as long as it runs. */
async function serveFiles(app: FastifyInstance, root: string): Promise<void> {
  // Other names (`..`, `//`, NUL) never reach the file system.
  const names = new Set(readdirSync(root));
  await app.register(fastifyStatic, {
    root,
    serve: false,
    // The build wrote `.br` and `.gz` variants of each text file.
    preCompressed: true,
    // A name holds a hash of its content.
    maxAge: YEAR_MS,
    immutable: true,
    setHeaders: (reply) => {
      reply.header('X-Content-Type-Options', 'nosniff');
    },
  });
  app.route<{ Params: { name: string } }>({
    method: ['GET', 'HEAD'],
    url: '/assets/:name',
    handler: (request, reply) => {
      const { name } = request.params;
      return names.has(name) ? reply.sendFile(name) : reply.callNotFound();
    },
  });
}

function pageAssets(chunks: Map<string, Chunk>, source: string): PageAssets {
  const entry = chunks.get(source);
  if (entry === undefined) throw new Error(`web/dist has no entry ${source}`);
  if (entry.file.endsWith('.css')) {
    return { scripts: [], styles: [`/${entry.file}`], preloads: [], lazy: [] };
  }
  const eager = reach(chunks, [source], ({ imports }) => imports);
  const later = reach(
    chunks,
    [...eager].flatMap((key) => chunks.get(key)?.dynamicImports ?? []),
    ({ imports, dynamicImports }) => [...imports, ...dynamicImports],
  );
  const paths = (keys: Iterable<string>, of: (chunk: Chunk) => string[]) => [
    ...new Set([...keys].flatMap((key) => chunks.get(key)).flatMap((chunk) => (chunk ? of(chunk) : []))),
  ];
  const file = ({ file: name }: Chunk) => [`/${name}`];
  return {
    scripts: [`/${entry.file}`],
    styles: paths(eager, ({ css }) => css.map((name) => `/${name}`)),
    preloads: paths([...eager].slice(1), file),
    lazy: paths(
      [...later].filter((key) => !eager.has(key)),
      file,
    ),
  };
}

/** Returns `start` and all chunks reachable from it, in order of discovery. */
function reach(chunks: Map<string, Chunk>, start: string[], next: (chunk: Chunk) => string[]): Set<string> {
  const found = new Set(start);
  for (const key of found) {
    const chunk = chunks.get(key);
    if (chunk !== undefined) for (const neighbour of next(chunk)) found.add(neighbour);
  }
  return found;
}

/** Vite's manifest; null when there is none. @throws {Error} when it is not one. */
function readManifest(path: string): Map<string, Chunk> | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  const manifest: unknown = JSON.parse(text);
  const chunks = new Map<string, Chunk>();
  if (typeof manifest !== 'object' || manifest === null) throw new Error(`${path} is not a manifest`);
  for (const [key, chunk] of Object.entries<unknown>({ ...manifest })) {
    if (typeof chunk !== 'object' || chunk === null) throw new Error(`${path} is not a manifest`);
    const list = (name: string): string[] => {
      const value: unknown = Reflect.get(chunk, name);
      return Array.isArray(value) ? value.map(String) : [];
    };
    chunks.set(key, {
      file: String(Reflect.get(chunk, 'file')),
      css: list('css'),
      imports: list('imports'),
      dynamicImports: list('dynamicImports'),
    });
  }
  return chunks;
}
