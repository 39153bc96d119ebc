import { KEYS } from '../../src/platform/config.ts';

const BEGIN = '<!-- configuration: written by npm run generate -->';
const END = '<!-- end of configuration -->';

/** The README with its configuration table, one row for each key of the schema. */
export function withConfigurationTable(readme: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`README.md must have the lines "${BEGIN}" and "${END}"`);
  const rows = Object.entries(KEYS).map(([name, { description, fallback }]) => {
    const value = fallback === null || fallback === '' ? '' : `\`${fallback}\``;
    return `| \`${name}\` | ${value} | ${description.replaceAll('|', '\\|')} |`;
  });
  const table = ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
  return `${readme.slice(0, begin)}${BEGIN}\n${table}\n${readme.slice(end)}`;
}
