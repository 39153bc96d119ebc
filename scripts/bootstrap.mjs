/**
 * Entry point of `npm start` and the other npm scripts: plain JavaScript for the system's Node (20 or newer),
 * without dependencies. It installs missing dependencies and hands over to Node 26 from node_modules. If
 * nothing is missing, it only compares stamps.
 *
 *   node scripts/bootstrap.mjs dev|test|check|demo|cluster|test-upgrade|bench|capacity|generate|create-feature|readme-image [arguments]
 *   node scripts/bootstrap.mjs start      prints the command that scripts/start.sh runs
 */

import { handOver } from './bootstrap/handoff.mjs';
import { installPackages, nodePath } from './bootstrap/packages.mjs';
import {
  ensureChromium,
  ensureCounterStore,
  ensureFfmpeg,
  ensureJanus,
  ensureLoadBalancer,
  ensureLoadGenerator,
  ensureObs,
  ensureReplicatedDatabase,
  ensureRtmpServer,
  ensureSandbox,
  ensureTurnServer,
} from './bootstrap/programs.mjs';
import { serverBundle, serverProgram } from './bootstrap/server.mjs';
import { Stop } from './bootstrap/stop.mjs';
import { tryPeers } from './bootstrap/test-tools.mjs';
import { buildWeb } from './bootstrap/web.mjs';

const COMMANDS = {
  start: { script: 'start', needs: ['ffmpeg', 'rooms', 'web', 'server'] },
  dev: { script: 'scripts/dev.ts', needs: ['dev', 'ffmpeg', 'rooms'] },
  test: {
    script: 'scripts/run-tests.ts',
    needs: [
      ...['dev', 'ffmpeg', 'rooms', 'chromium', 'store', 'rtmp', 'turn', 'obs', 'balancer', 'peers', 'web'],
      'server',
    ],
  },
  check: { script: 'scripts/check.ts', needs: ['dev'] },
  demo: { script: 'scripts/demo.ts', needs: ['dev', 'ffmpeg', 'rooms', 'web', 'server'] },
  cluster: {
    script: 'scripts/cluster.ts',
    needs: ['dev', 'ffmpeg', 'rooms', 'store', 'balancer', 'peers', 'web', 'server'],
  },
  'test-upgrade': {
    script: 'scripts/test-upgrade.ts',
    needs: ['dev', 'ffmpeg', 'rooms', 'store', 'balancer', 'peers', 'web', 'server'],
  },
  bench: { script: 'scripts/run-benches.ts', needs: ['dev', 'ffmpeg', 'rooms', 'load', 'web', 'server'] },
  capacity: { script: 'scripts/capacity.ts', needs: ['dev'] },
  generate: { script: 'scripts/generate.ts', needs: ['dev'] },
  'create-feature': { script: 'scripts/create-feature.ts', needs: ['dev'] },
  'readme-image': {
    script: 'scripts/readme-image.ts',
    needs: ['dev', 'ffmpeg', 'rooms', 'chromium', 'web', 'server'],
  },
};

function main([name = '', ...args]) {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new Stop(`usage: bootstrap.mjs ${Object.keys(COMMANDS).join('|')}`);
  const needs = (what) => command.needs.includes(what);
  const env = { ...process.env };
  installPackages({ dev: needs('dev') });
  // A node that has only the API role never processes media.
  const media = /^$|all|media|worker/.test(name === 'start' ? (env.ROLES ?? '') : '');
  if (needs('ffmpeg') && media) {
    ensureFfmpeg(env);
    ensureSandbox();
  }
  // The media role also runs the room engine.
  if (needs('rooms') && /^$|all|media/.test(name === 'start' ? (env.ROLES ?? '') : '')) ensureJanus(env);
  if (needs('chromium')) env.CHROMIUM_PATH = ensureChromium(env);
  if (needs('store')) ensureCounterStore();
  if (needs('rtmp')) ensureRtmpServer();
  if (needs('turn') && args.includes('--full')) ensureTurnServer();
  if (needs('balancer') && (name !== 'test' || args.includes('--full'))) ensureLoadBalancer();
  if (args.includes(name === 'test' ? '--full' : '--patroni')) ensureReplicatedDatabase();
  if (needs('obs') && args.includes('--full')) ensureObs();
  if (needs('peers')) tryPeers(args.includes('--full'));
  if (needs('load')) ensureLoadGenerator();
  if (needs('web')) buildWeb();
  const bundle = needs('server') ? serverBundle({ build: true }) : null;
  if (bundle === null && name === 'test') throw new Stop('the server could not be bundled');
  // Tests and benchmarks run the platform as an operator does.
  if (bundle !== null) env.MARQUEE_BUNDLE = bundle;
  if (name === 'start') process.stdout.write(`${serverProgram(bundle, command.script)}\n`);
  else handOver(nodePath(), ['--disable-warning=ExperimentalWarning', command.script, ...args], env);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  process.stderr.write(`marquee: ${error.message}\n`);
  process.exitCode = 1;
}
