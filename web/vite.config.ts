import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const COMPRESSED = /\.(?:js|css|svg)$/;
const WORTH_IT_BYTES = 1024;

/** Writes `.br` and `.gz` files for every text file, so that the server never compresses. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    // Not earlier: other plugins still change the files until they are written.
    async writeBundle({ dir = '' }, bundle) {
      for (const fileName of Object.keys(bundle).filter((name) => COMPRESSED.test(name))) {
        const path = join(dir, fileName);
        const bytes = await readFile(path);
        if (bytes.length < WORTH_IT_BYTES) continue;
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        await writeFile(`${path}.br`, brotliCompressSync(bytes, { params }));
        await writeFile(`${path}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
      }
    },
  };
}

/** Modules of the dashboard and its libraries; those of the public pages stay separate. */
const SHELL =
  /[\\/]web[\\/]dashboard[\\/].*[.]tsx?$|[\\/]node_modules[\\/](?!hls[.]js|livekit-client|media-chrome)/;

const source = (path: string) => join(import.meta.dirname, path);

/** The public pages' scripts and styles; `src/http/assets.ts` serves them by the manifest. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [precompress()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    manifest: 'manifest.json',
    target: 'es2022',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      checks: { pluginTimings: false },
      onLog: (level, log, report) => {
        // The components are marked for servers that render React; there is none here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
      input: {
        site: source('site/site.css'),
        images: source('site/images.ts'),
        watch: source('watch/main.ts'),
        embed: source('embed/main.ts'),
        room: source('room/main.ts'),
        book: source('book/main.ts'),
        dashboard: source('dashboard/main.tsx'),
      },
      output: {
        codeSplitting: {
          // One file compresses better than the forty that pages would share.
          groups: [
            { name: 'preload', test: 'vite/preload-helper', priority: 1 },
            { name: 'shell', tags: ['$initial'], test: SHELL },
          ],
        },
      },
    },
  },
});
