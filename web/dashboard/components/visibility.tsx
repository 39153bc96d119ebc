import { NativeSelect, type NativeSelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../app/shape.ts';

export type Visibility = Shape<'Visibility'>;

/** What everything can be; the others are for what is sold. */
const CHOICES = ['PUBLIC', 'UNLISTED', 'FOLLOWERS', 'PRIVATE'] as const;
const ALL: readonly string[] = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'];

export function isVisibility(text: unknown): text is Visibility {
  return typeof text === 'string' && ALL.includes(text);
}

/** The word for it: "Public". */
export function VisibilityName({ visibility }: { visibility: Visibility }) {
  const { t } = useTranslation();
  return t(`visibility.${visibility}`);
}

interface Props extends Omit<NativeSelectProps, 'data'> {
  /** What it is now: offered also where it is not one of the usual ones. */
  current?: Visibility;
  /** What it can be besides. */
  more?: readonly Visibility[];
}

/** Who may watch, with a line that says what each choice means. */
export function VisibilitySelect({ current, more = [], ...select }: Props) {
  const { t } = useTranslation();
  const usual: readonly Visibility[] = [...CHOICES, ...more];
  const values = current === undefined || usual.includes(current) ? usual : [...usual, current];
  return (
    <NativeSelect
      size="md"
      label={t('visibility.label')}
      data={values.map((value) => ({
        value,
        label: `${t(`visibility.${value}`)}: ${t(`visibilityMeans.${value}`)}`,
      }))}
      {...select}
    />
  );
}
