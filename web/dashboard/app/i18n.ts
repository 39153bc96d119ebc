import i18next, { type ReadCallback } from 'i18next';
import { initReactI18next } from 'react-i18next';

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const KEY = 'marquee.language';

/** One small file for each language and area, fetched when the area is opened. */
const files = import.meta.glob<Record<string, unknown>>('../locales/*/*.json', { import: 'default' });

const backend = {
  type: 'backend' as const,
  init: () => {},
  read: (language: string, namespace: string, done: ReadCallback) => {
    const load = files[`../locales/${language}/${namespace}.json`];
    if (load === undefined) return done(new Error(`no texts for ${language}/${namespace}`), false);
    load().then(
      (words) => done(null, words),
      (error: Error) => done(error, false),
    );
  },
};

/** Chosen here before, or else the first of the browser's languages that we speak. */
function firstLanguage(): Language {
  const wanted = [localStorage.getItem(KEY) ?? '', ...navigator.languages];
  const known = wanted.map((tag) => tag.slice(0, 2)).find(isLanguage);
  return known ?? 'en';
}

export function isLanguage(tag: string): tag is Language {
  return tag in LANGUAGES;
}

/** Loads the translations of the shell; those of an area are loaded with it (`useTranslation('limits')`). */
export async function loadTranslations(): Promise<void> {
  i18next.on('languageChanged', (language) => {
    document.documentElement.lang = language;
  });
  await i18next
    .use(backend)
    .use(initReactI18next)
    .init({
      lng: firstLanguage(),
      supportedLngs: Object.keys(LANGUAGES),
      fallbackLng: 'en',
      ns: ['app'],
      defaultNS: 'app',
      // React escapes.
      interpolation: { escapeValue: false },
      react: { useSuspense: true },
    });
}

export function currentLanguage(): Language {
  return isLanguage(i18next.language) ? i18next.language : 'en';
}

export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(KEY, language);
  await i18next.changeLanguage(language);
}

/** Returns the locale for `Intl`: the UI language with the browser's region (`en-GB`). */
export function currentLocale(): string {
  const language = currentLanguage();
  return navigator.languages.find((tag) => tag.startsWith(language)) ?? language;
}
