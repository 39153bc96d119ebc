const MAX_TAG = 35;

/** `pt-br` is `pt-BR`, and `ger` is `de` (BCP 47); null when it is no language tag. */
export function canonicalLanguage(tag: string): string | null {
  try {
    return tag.length > MAX_TAG ? null : (Intl.getCanonicalLocales(tag)[0] ?? null);
  } catch {
    return null;
  }
}

/** In the language itself, as those who need it read it; the tag where it has no name. */
export function languageName(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' });
  return name.of(plainLanguage(language)) ?? language;
}

/** Without extensions and private parts, which have no names: `en-x-sdh` is `en`. */
export function plainLanguage(language: string): string {
  return new Intl.Locale(language).baseName;
}
