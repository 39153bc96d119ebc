import { Checkbox, Paper, Radio, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { Loaded } from '../../components/loaded.tsx';

interface Props {
  /** Value of the API: types and `family.*`; empty means every type. */
  value: readonly string[];
  onChange: (events: string[]) => void;
  error?: React.ReactNode;
}

/** Selects event types of the catalog: all, whole families (including future types), or single types. */
export function EventPicker({ value, onChange, error }: Props) {
  const { t } = useTranslation('webhooks');
  const [isAll, setAll] = useState(value.length === 0);
  const types = $api.useQuery('get', '/me/webhooks/events', {}, { staleTime: Number.POSITIVE_INFINITY });
  const choose = (next: string) => {
    setAll(next === 'all');
    if (next === 'all') onChange([]);
  };
  return (
    <Stack gap="xs">
      <Radio.Group label={t('picker.label')} value={isAll ? 'all' : 'some'} onChange={choose} error={error}>
        <Stack gap="xs" mt="xs">
          <Radio value="all" label={t('picker.all')} description={t('picker.allHint')} />
          <Radio value="some" label={t('picker.some')} />
        </Stack>
      </Radio.Group>
      {!isAll && (
        <Loaded query={types}>
          {({ data }) => <Catalogue types={data} value={value} onChange={onChange} />}
        </Loaded>
      )}
    </Stack>
  );
}

/** `video` of `video.processing.completed`. */
const familyOf = (type: string) => type.split('.')[0] ?? type;

function Catalogue({ types, value, onChange }: Omit<Props, 'error'> & { types: readonly string[] }) {
  const { t } = useTranslation('webhooks');
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const families = Map.groupBy(
    types.filter((type) => type.includes(wanted)),
    familyOf,
  );
  const toggle = (entry: string, isOn: boolean) =>
    onChange(isOn ? [...value, entry] : value.filter((v) => v !== entry));
  const toggleFamily = (family: string, isOn: boolean) => {
    const others = value.filter((entry) => familyOf(entry) !== family);
    onChange(isOn ? [...others, `${family}.*`] : others);
  };
  return (
    <Paper withBorder p="md">
      <Stack>
        <TextInput
          label={t('picker.search')}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <ScrollArea.Autosize
          mah={360}
          type="auto"
          viewportProps={{ tabIndex: 0, 'aria-label': t('picker.types'), role: 'group' }}
        >
          <Stack gap="md">
            {[...families].map(([family, members]) => {
              const isWhole = value.includes(`${family}.*`);
              return (
                <Stack key={family} gap={6} role="group" aria-label={family}>
                  <Checkbox
                    label={`${family}.*`}
                    description={t('picker.family')}
                    checked={isWhole}
                    onChange={(event) => toggleFamily(family, event.currentTarget.checked)}
                  />
                  {members.map((type) => (
                    <Checkbox
                      key={type}
                      ml="lg"
                      label={type}
                      checked={isWhole || value.includes(type)}
                      disabled={isWhole}
                      onChange={(event) => toggle(type, event.currentTarget.checked)}
                    />
                  ))}
                </Stack>
              );
            })}
            {families.size === 0 && <Text>{t('picker.nothing')}</Text>}
          </Stack>
        </ScrollArea.Autosize>
        <Text size="sm" role="status">
          {value.length === 0 ? t('picker.chooseOne') : value.join(', ')}
        </Text>
      </Stack>
    </Paper>
  );
}
