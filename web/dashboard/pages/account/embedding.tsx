import { Group, Radio, Stack, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Loaded } from '../../components/loaded.tsx';

/** Edits the websites that may embed the player. */
export function Embedding() {
  const allowlist = $api.useQuery('get', '/me/embed-allowlist');
  return <Loaded query={allowlist}>{({ data }) => <Fields allowlist={data} />}</Loaded>;
}

function Fields({ allowlist }: { allowlist: Pick<Shape<'EmbedAllowlist'>, 'mode' | 'domains'> }) {
  const { t } = useTranslation('account');
  const form = useForm({
    initialValues: { mode: allowlist.mode, domains: allowlist.domains.join('\n') },
  });
  useUnsaved(form);
  const save = $api.useMutation('put', '/me/embed-allowlist', {
    meta: { errors: 'form' },
    onSuccess: () => {
      form.resetDirty();
      showSuccess(t('saved'));
      return queries.invalidateQueries({ queryKey: ['get', '/me/embed-allowlist'] });
    },
    onError: formErrors(form),
  });
  return (
    <form
      onSubmit={form.onSubmit(({ mode, domains }) =>
        save.mutate({ body: { mode, domains: domains.split(/[\s,]+/).filter((line) => line !== '') } }),
      )}
    >
      <Stack>
        <Radio.Group {...form.getInputProps('mode')} label={t('embed.who')}>
          <Stack gap="xs" mt="xs">
            <Radio value="OPEN" label={t('embed.open')} />
            <Radio value="ALLOWLIST" label={t('embed.listed')} />
          </Stack>
        </Radio.Group>
        <Textarea
          {...form.getInputProps('domains')}
          label={t('embed.domains')}
          description={t('embed.domainsHint')}
          autosize
          minRows={3}
          spellCheck={false}
          dir="ltr"
        />
        <Group>
          <EditButton of="settings" type="submit" loading={save.isPending}>
            {t('save')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}
