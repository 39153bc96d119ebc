import { KEYS } from '../../src/platform/config.ts';

/** Sections of the page, each with its first variable; the variables are in the order of `KEYS`. */
const SECTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    PORT: 'Server',
    S3_BUCKET: 'Object storage',
    DATABASE_URL: 'Database and cluster',
    SECRET_KEY: 'Security and logging',
    ANALYTICS_RAW_DAYS: 'Analytics',
    SMTP_URL: 'Email and registration',
    METRICS_HOST: 'Metrics',
    RTMP_PORT: 'Ingest and live streaming',
    FFMPEG_PATH: 'Video processing',
    ROOMS_ENGINE: 'Rooms and WebRTC',
    PLATFORM_FEE_PERCENT: 'Payments',
    WEBHOOK_RETRY_SECONDS: 'Webhooks and outgoing requests',
    MARQUEE_URL: 'Command line',
    BOOTSTRAP_EMAIL: 'First start',
  } satisfies Partial<Record<keyof typeof KEYS, string>>),
);

/** Returns the configuration reference: a table per section, a row per variable. */
export function configurationReference(): string {
  const lines = Object.entries(KEYS).flatMap(([name, { description, fallback }]) => {
    const title = SECTIONS.get(name);
    const heading =
      title === undefined
        ? []
        : ['', `## ${title}`, '', '| Variable | Default | Meaning |', '| --- | --- | --- |'];
    const value = fallback === null || fallback === '' ? '' : `\`${fallback}\``;
    return [...heading, `| \`${name}\` | ${value} | ${withLinks(description).replaceAll('|', '\\|')} |`];
  });
  return `<!-- Written by npm run generate from src/platform/config.ts. -->
# Configuration

Marquee reads environment variables once, at the start, and needs none. An invalid value stops the start with an error that
names the variable. \`node scripts/marquee.mjs doctor\` checks the values against the machine.
${lines.join('\n')}
`;
}

/** Turns the paths of other pages into links relative to `docs/`. */
function withLinks(description: string): string {
  return description.replaceAll(
    /`?docs\/([\w/-]+\/)?([\w-]+)\.md(#[\w-]+)?`?/g,
    (_, folder = '', page, anchor = '') => `[${page}](${folder}${page}.md${anchor})`,
  );
}
