const MAX_TAG = 35;

/** `pt-br` is `pt-BR`, and `ger` is `de` (BCP 47); null when it is no language tag. */
export function canonicalLanguage(tag: string): string | null {
  try {
    return tag.length > MAX_TAG ? null : (Intl.getCanonicalLocales(tag)[0] ?? null);
  } catch {
    return null;
  }
}

/** Returns the name of the language in that language, or the tag when it has no name. */
export function languageName(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' });
  return name.of(baseLanguageTag(language)) ?? language;
}

/** Without extensions and private parts, which have no names: `en-x-sdh` is `en`. */
export function baseLanguageTag(language: string): string {
  return new Intl.Locale(language).baseName;
}

/** Why there is more than one file of captions in a language. */
export type CaptionPurpose = 'SDH' | 'FORCED';

const PURPOSES: Readonly<Record<string, CaptionPurpose>> = { sdh: 'SDH', forced: 'FORCED' };

/** By the private part of the tag (docs/concepts/videos.md#captions): `en-x-sdh`, `en-x-forced`; null without. */
export function captionPurpose(language: string): CaptionPurpose | null {
  const [, purpose = ''] = /-x-([a-z]+)(?:-|$)/i.exec(language) ?? [];
  return PURPOSES[purpose.toLowerCase()] ?? null;
}

/** Returns the label, with a number appended when it is already used. */
export function uniqueLabel(label: string, taken: Set<string>): string {
  let name = label;
  for (let count = 2; taken.has(name); count += 1) name = `${label} ${count}`;
  taken.add(name);
  return name;
}
