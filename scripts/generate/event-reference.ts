import type { EventDefinition } from '../../src/events/catalogue.ts';

const NOTICE = '<!-- Written by npm run generate from the event catalog. -->';

/** The page of all event types: the shape of `data` and a sample of each. */
export function eventReference(definitions: readonly EventDefinition[]): string {
  const families = Map.groupBy(definitions, ({ type }) => type.slice(0, type.indexOf('.')));
  const rows = definitions.map(
    ({ type, description }) => `| [\`${type}\`](#${anchorOf(type)}) | ${description} |`,
  );
  return `${NOTICE}
# Events

Event types for webhook subscriptions; \`GET /me/webhooks/events\` returns the same list, and \`<family>.*\` subscribes
to a family. [Webhooks](webhooks.md) describes delivery. The tables below list the fields of \`data\`. All fields are always
present; those with \`null\` may be null.

\`sequence\` counts the events of one resource from 1, so that you can restore their order. URLs in events contain no token.
Payments and earnings are never in an event; changes of prices, which are public, are.

| Type | Sent when |
| --- | --- |
${rows.join('\n')}

${[...families].map(([family, events]) => familySection(family, events)).join('\n')}`;
}

/** Returns the anchor that GitHub generates for a heading. */
function anchorOf(type: string): string {
  return type.replaceAll('.', '');
}

function familySection(family: string, events: readonly EventDefinition[]): string {
  return [`## The family \`${family}.*\`\n`, ...events.map(eventSection)].join('\n');
}

function eventSection({ type, description, data, sample }: EventDefinition): string {
  const rows = Object.entries(data.properties).map(
    ([name, schema]) => `| \`${name}\` | ${typeOf(schema)} | ${textOf(schema, 'description')} |`,
  );
  return `### ${type}

${description}

| Field | Type | |
| --- | --- | --- |
${rows.join('\n')}

\`\`\`json
${JSON.stringify(sample, null, 2)}
\`\`\`
`;
}

function typeOf(schema: unknown): string {
  const member = (name: string) => memberOf(schema, name);
  const constant = member('const');
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``;
  const choices = member('enum');
  if (Array.isArray(choices)) return choices.map((choice) => `\`${choice}\``).join(', ');
  const variants = member('anyOf');
  if (Array.isArray(variants)) return variants.map(typeOf).join(' or ');
  const items = member('items');
  if (items !== undefined) return `list of ${typeOf(items)}`;
  const properties = member('properties');
  if (typeof properties === 'object' && properties !== null) {
    const members = Object.entries(properties).map(([name, of]) => `\`${name}\`: ${typeOf(of)}`);
    return `object (${members.join('; ')})`;
  }
  if (member('format') === 'date-time')
    return [member('type')].flat().includes('null') ? 'time or null' : 'time';
  return [member('type')].flat().map(String).join(' or ');
}

function textOf(schema: unknown, name: string): string {
  const text = memberOf(schema, name);
  return typeof text === 'string' ? text.replaceAll('|', '\\|') : '';
}

function memberOf(schema: unknown, name: string): unknown {
  return typeof schema === 'object' && schema !== null ? Reflect.get(schema, name) : undefined;
}
