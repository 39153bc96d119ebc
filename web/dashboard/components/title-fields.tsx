import { Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';

type Name = 'title' | 'description';

/** Title and description fields of a video or a stream. */
export function TitleFields({
  form,
}: {
  form: { getInputProps: (name: Name) => object; key: (name: Name) => string };
}) {
  const { t } = useTranslation();
  return (
    <>
      <TextInput
        {...form.getInputProps('title')}
        key={form.key('title')}
        label={t('about.title')}
        maxLength={200}
        dir="auto"
        required
      />
      <Textarea
        {...form.getInputProps('description')}
        key={form.key('description')}
        label={t('about.description')}
        maxLength={5000}
        minRows={3}
        autosize
        dir="auto"
      />
    </>
  );
}
