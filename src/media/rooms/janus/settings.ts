import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Settings for the configuration files of Janus. */
export interface JanusSettings {
  wsPort: number;
  secret: string;
  adminKey: string;
  /** UDP ports, inclusive. */
  ports: { first: number; last: number };
  /** Address for browsers instead of the machine's own. */
  publicIp: string | undefined;
  /** Network devices or IP addresses to use. Default: all but the loopback. */
  devices?: string | undefined;
}

/** Subfolder of the working folder for the configuration. */
export const CONFIG_FOLDER = 'config';
/** Subfolder of its working folder for recordings, one folder each. */
export const RECORDINGS_FOLDER = 'recordings';

const ONLY_OWNER = 0o700;
const SESSION_TIMEOUT_SEC = 60;
/** Ports outside of the ephemeral range of the system; each viewer takes four, on the loopback only. */
const VIEWER_PORTS = '61000-65500';
/** Log level: errors only. */
const DEBUG_LEVEL = 2;

const OTHER_PLUGINS = [
  ...['audiobridge', 'duktape', 'echotest', 'lua', 'recordplay', 'sip', 'textroom'],
  ...['videocall', 'voicemail'],
];
const OTHER_TRANSPORTS = ['http', 'mqtt', 'nanomsg', 'pfunix', 'rabbitmq'];

/** Recreates the working folder of Janus; recordings stay. */
export async function writeSettings(folder: string, settings: JanusSettings, uid: number): Promise<void> {
  const config = join(folder, CONFIG_FOLDER);
  const recordings = join(folder, RECORDINGS_FOLDER);
  await rm(config, { recursive: true, force: true });
  for (const path of [folder, config, recordings]) {
    await mkdir(path, { recursive: true, mode: ONLY_OWNER });
    await chown(path, uid, -1);
  }
  for (const [name, text] of Object.entries(filesOf(settings))) {
    const path = join(config, name);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    await chown(path, uid, -1);
  }
}

function filesOf({ wsPort, secret, adminKey, ports, publicIp, devices }: JanusSettings) {
  const nat = [
    'nice_debug = false',
    ...(publicIp === undefined ? [] : [`nat_1_1_mapping = "${publicIp}"`]),
    ...(devices === undefined ? [] : [`ice_enforce_list = "${devices}"`]),
  ];
  return {
    'janus.jcfg': [
      section('general', [
        `configs_folder = "${CONFIG_FOLDER}"`,
        `debug_level = ${DEBUG_LEVEL}`,
        'debug_colors = false',
        `api_secret = "${secret}"`,
        `session_timeout = ${SESSION_TIMEOUT_SEC}`,
        'hide_dependencies = true',
      ]),
      section('media', [`rtp_port_range = "${ports.first}-${ports.last}"`]),
      section('nat', nat),
      section('plugins', [`disable = "${libraries(OTHER_PLUGINS)}"`]),
      section('transports', [`disable = "${libraries(OTHER_TRANSPORTS)}"`]),
      section('loggers', ['disable = "libjanus_jsonlog.so"']),
      section('events', ['broadcast = false']),
    ].join('\n'),
    'janus.transport.websockets.jcfg': [
      section('general', [
        'json = "plain"',
        'ws = true',
        `ws_port = ${wsPort}`,
        'ws_ip = "127.0.0.1"',
        'wss = false',
      ]),
      section('admin', ['admin_ws = false', 'admin_wss = false']),
    ].join('\n'),
    'janus.plugin.streaming.jcfg': section('general', [
      `admin_key = "${adminKey}"`,
      'string_ids = true',
      'events = false',
    ]),
    'janus.plugin.nosip.jcfg': section('general', [
      'local_ip = "127.0.0.1"',
      'sdp_ip = "127.0.0.1"',
      `rtp_port_range = "${VIEWER_PORTS}"`,
      'events = false',
    ]),
    'janus.plugin.videoroom.jcfg': section('general', [
      `admin_key = "${adminKey}"`,
      'lock_rtp_forward = true',
      'string_ids = true',
      'events = false',
    ]),
  };
}

function section(name: string, lines: readonly string[]): string {
  return `${name}: {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
}

const libraries = (names: readonly string[]) => names.map((name) => `libjanus_${name}.so`).join(',');
