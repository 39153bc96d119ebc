import { Accordion, NumberInput, Radio, Stack, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { PermissionLevels } from './permission-levels.tsx';
import { type Levels, noLevels, permissionsOf } from './permissions.ts';

const SCOPES = ['STANDARD', 'READ_ONLY', 'FULL_ACCESS'] as const;
type Scope = (typeof SCOPES)[number];

interface Values {
  name: string;
  scope: Scope;
  /**
   * Whether the key is limited to the selected permissions; otherwise it allows everything except finance.
   */
  isChosen: 'all' | 'chosen';
  levels: Levels;
  ipAllowlist: string;
  domainAllowlist: string;
  /** A day, `YYYY-MM-DD`; empty is never. */
  expiresOn: string;
  dailyQuota: number | string;
}

const linesOf = (text: string) => text.split(/[\s,]+/).filter((line) => line !== '');

/** The last second of the day, in the zone of the browser. */
function endOfDay(day: string): string {
  return new Date(`${day}T23:59:59`).toISOString();
}

function bodyOf(values: Values): Shape<'ApiKeyCreate'> {
  const isListed = values.scope !== 'FULL_ACCESS' && values.isChosen === 'chosen';
  return {
    name: values.name.trim(),
    scope: values.scope,
    permissions: isListed ? permissionsOf(values.levels) : [],
    ipAllowlist: linesOf(values.ipAllowlist),
    domainAllowlist: linesOf(values.domainAllowlist),
    expiresAt: values.expiresOn === '' ? null : endOfDay(values.expiresOn),
    dailyQuota: typeof values.dailyQuota === 'number' ? values.dailyQuota : null,
  };
}

/**
 * Edits name, permissions and allowlists of a new key. `onMade` receives the only response that contains its
 * secret.
 */
export function KeyForm({ onMade }: { onMade: (key: Shape<'ApiKeyWithSecret'>) => void }) {
  const { t } = useTranslation('keys');
  const form = useForm<Values>({
    initialValues: {
      name: '',
      scope: 'STANDARD',
      isChosen: 'all',
      levels: noLevels(),
      ipAllowlist: '',
      domainAllowlist: '',
      expiresOn: '',
      dailyQuota: '',
    },
    validate: {
      name: (name) => (name.trim() === '' ? t('form.nameMissing') : null),
      levels: (levels, { scope, isChosen }) =>
        scope !== 'FULL_ACCESS' && isChosen === 'chosen' && permissionsOf(levels).length === 0
          ? t('form.nothingChosen')
          : null,
    },
  });
  useUnsaved(form);
  const make = $api.useMutation('post', '/me/api-keys', {
    meta: { errors: 'form' },
    // The response contains the secret, so it is cached only while it is shown.
    gcTime: 0,
    onSuccess: ({ data }) => {
      void queries.invalidateQueries({ queryKey: ['get', '/me/api-keys'] });
      onMade(data);
    },
    onError: formErrors(form, { expiresAt: 'expiresOn', permissions: 'levels' }),
  });
  const { scope, isChosen } = form.values;
  return (
    <form onSubmit={form.onSubmit((values) => make.mutate({ body: bodyOf(values) }))} noValidate>
      <Stack maw={640}>
        <TextInput
          {...form.getInputProps('name')}
          label={t('form.name')}
          description={t('form.nameHint')}
          maxLength={100}
          required
          data-autofocus
        />
        <Radio.Group {...form.getInputProps('scope')} label={t('form.scope')}>
          <Stack gap="xs" mt="xs">
            {SCOPES.map((value) => (
              <Radio
                key={value}
                value={value}
                label={t(`scope.${value}`)}
                description={t(`scopeHint.${value}`)}
              />
            ))}
          </Stack>
        </Radio.Group>
        {scope !== 'FULL_ACCESS' && (
          <Radio.Group {...form.getInputProps('isChosen')} label={t('form.permissions')}>
            <Stack gap="xs" mt="xs">
              <Radio value="all" label={t('form.all')} description={t('form.allHint')} />
              <Radio value="chosen" label={t('form.chosen')} description={t('form.chosenHint')} />
            </Stack>
          </Radio.Group>
        )}
        {scope !== 'FULL_ACCESS' && isChosen === 'chosen' && (
          <PermissionLevels
            levels={form.values.levels}
            error={form.errors.levels}
            isReadOnly={scope === 'READ_ONLY'}
            onChange={(levels) => form.setFieldValue('levels', levels)}
          />
        )}
        <Restrictions form={form} />
        <EditButton type="submit" loading={make.isPending}>
          {t('form.submit')}
        </EditButton>
      </Stack>
    </form>
  );
}

function Restrictions({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('keys');
  return (
    <Accordion variant="contained" chevronPosition="left">
      <Accordion.Item value="restrictions">
        <Accordion.Control>{t('form.restrictions')}</Accordion.Control>
        <Accordion.Panel>
          <Stack>
            <TextInput
              {...form.getInputProps('expiresOn')}
              type="date"
              label={t('form.expires')}
              description={t('form.expiresHint')}
            />
            <NumberInput
              {...form.getInputProps('dailyQuota')}
              label={t('form.quota')}
              description={t('form.quotaHint')}
              min={1}
              max={1_000_000_000}
              allowDecimal={false}
              hideControls
              size="md"
            />
            <Textarea
              {...form.getInputProps('ipAllowlist')}
              label={t('form.addresses')}
              description={t('form.addressesHint')}
              autosize
              minRows={2}
              spellCheck={false}
              dir="ltr"
            />
            <Textarea
              {...form.getInputProps('domainAllowlist')}
              label={t('form.domains')}
              description={t('form.domainsHint')}
              autosize
              minRows={2}
              spellCheck={false}
              dir="ltr"
            />
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
