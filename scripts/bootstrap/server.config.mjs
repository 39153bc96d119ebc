import { toAscii } from './ascii.mjs';

/**
 * Vite configuration of the server bundle (`server.mjs`): our code and its packages, readable, in few files.
 */
const source = (path) => new URL(`../../src/${path}.ts`, import.meta.url).pathname;

function writeAscii(file) {
  if (file.type === 'chunk') file.code = toAscii(file.code);
}

export default {
  publicDir: false,
  plugins: [
    { name: 'ascii', generateBundle: (_options, bundle) => Object.values(bundle).forEach(writeAscii) },
  ],
  resolve: { conditions: ['node'], mainFields: [] },
  ssr: {
    noExternal: true,
    // These packages load native libraries from their own folders.
    external: ['@napi-rs/image', '@node-rs/argon2'],
    resolve: { conditions: ['node'], externalConditions: ['node'], mainFields: [] },
  },
  build: {
    ssr: true,
    target: 'esnext',
    minify: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: {
        start: source('main/start'),
        media: source('main/media/media'),
        role: source('main/processes/role'),
        sender: source('main/media/sender'),
        cli: source('main/cli'),
        'parse-calendar-worker': source('features/booking/calendars/parse-calendar-worker'),
      },
      output: {
        entryFileNames: '[name].mjs',
        chunkFileNames: '[name]-[hash].mjs',
        // File names are the exception. Licenses are in node_modules.
        comments: false,
      },
    },
  },
};
