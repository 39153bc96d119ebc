import { NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isVisibility, type Visibility } from './visibility.tsx';

const ANY = '';

/** Narrows a list to one visibility; without one it shows all. */
export function VisibilityFilter({
  value,
  onChange,
}: {
  value: Visibility | undefined;
  onChange: (value: Visibility | undefined) => void;
}) {
  const { t } = useTranslation();
  const choices = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'] as const;
  return (
    <NativeSelect
      size="md"
      label={t('visibility.label')}
      value={value ?? ANY}
      onChange={({ currentTarget }) =>
        onChange(isVisibility(currentTarget.value) ? currentTarget.value : undefined)
      }
      data={[
        { value: ANY, label: t('visibility.any') },
        ...choices.map((choice) => ({ value: choice, label: t(`visibility.${choice}`) })),
      ]}
    />
  );
}
