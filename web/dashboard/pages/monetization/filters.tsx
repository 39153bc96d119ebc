import { NativeSelect, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PeriodSearch } from '../../components/search-values.ts';

interface SelectProps<Value extends string> {
  label: string;
  /** Label of the choice that does not filter. */
  any: string;
  values: readonly Value[];
  wordOf: (value: Value) => string;
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
}

/** Narrows a list to one value; without one it shows all. */
export function FilterSelect<Value extends string>(props: SelectProps<Value>) {
  const { label, any, values, wordOf, value, onChange } = props;
  return (
    <NativeSelect
      size="md"
      label={label}
      value={value ?? ''}
      onChange={({ currentTarget }) => onChange(values.find((known) => known === currentTarget.value))}
      data={[{ value: '', label: any }, ...values.map((one) => ({ value: one, label: wordOf(one) }))]}
    />
  );
}

/** Narrows a list to some days. */
export function PeriodFilter({
  search: { from, to },
  onChange,
}: {
  search: PeriodSearch;
  onChange: (change: { from?: string | undefined; to?: string | undefined }) => void;
}) {
  const { t } = useTranslation('monetization');
  return (
    <>
      <TextInput
        type="date"
        size="md"
        label={t('filter.from')}
        value={from ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ from: value || undefined })}
      />
      <TextInput
        type="date"
        size="md"
        label={t('filter.to')}
        value={to ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ to: value || undefined })}
      />
    </>
  );
}
