import { Button, Group, NativeSelect, Paper, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ProductFields } from './product-fields.ts';
import { FIELD_TYPES, MAX_FIELDS, NEW_QUESTION } from './product-values.ts';

/** Edits the intake questions of a product. */
export function Questions({ form }: { form: ProductFields }) {
  const { t } = useTranslation('booking');
  const { intakeFields } = form.getValues();
  return (
    <Stack gap="sm">
      <div>
        <Text fw={500}>{t('question.all')}</Text>
        <Text size="sm" c="dimmed">
          {t('question.hint')}
        </Text>
      </div>
      {intakeFields.map((question, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name until they are saved.
        <QuestionFields key={index} form={form} index={index} isSelect={question.type === 'SELECT'} />
      ))}
      {intakeFields.length < MAX_FIELDS && (
        <div>
          <Button variant="default" onClick={() => form.insertListItem('intakeFields', NEW_QUESTION)}>
            {t('question.add')}
          </Button>
        </div>
      )}
    </Stack>
  );
}

function QuestionFields({
  form,
  index,
  isSelect,
}: {
  form: ProductFields;
  index: number;
  isSelect: boolean;
}) {
  const { t } = useTranslation('booking');
  const at = `intakeFields.${index}`;
  return (
    <Paper withBorder p="md" role="group" aria-label={t('question.one', { number: index + 1 })}>
      <Stack gap="sm">
        <TextInput
          {...form.getInputProps(`${at}.label`)}
          label={t('question.label')}
          maxLength={200}
          dir="auto"
          required
        />
        <NativeSelect
          {...form.getInputProps(`${at}.type`)}
          size="md"
          label={t('question.type')}
          data={FIELD_TYPES.map((value) => ({ value, label: t(`fieldType.${value}`) }))}
        />
        {isSelect && (
          <Textarea
            {...form.getInputProps(`${at}.options`)}
            label={t('question.options')}
            description={t('question.optionsHint')}
            minRows={3}
            autosize
            dir="auto"
            required
          />
        )}
        <Group justify="space-between">
          <Switch
            {...form.getInputProps(`${at}.required`, { type: 'checkbox' })}
            label={t('question.required')}
          />
          <Button variant="default" onClick={() => form.removeListItem('intakeFields', index)}>
            {t('question.remove')}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
