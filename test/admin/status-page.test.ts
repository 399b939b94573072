import t from 'tap'
import { statusRoute } from '../../src/admin/status-page.js'

const asked = { query: new URLSearchParams(), accept: '', gone: new AbortController().signal }

t.test('everything that is put into the page is escaped', async (t) => {
  const evil = `<script>alert("1&2")</script>'`
  const { body, contentType } = await statusRoute(() => [
    { title: evil, header: [evil], rows: [[evil, 7]] },
    { title: 'Nothing', header: ['a'], rows: [] },
  ])(asked)
  t.equal(contentType, 'text/html; charset=utf-8')
  t.notMatch(String(body), /<script|alert\("/)
  t.equal(String(body).split('&#60;script&#62;alert(&#34;1&#38;2&#34;)').length - 1, 3)
  t.match(String(body), /<td>7<\/td>/)
  t.match(String(body), /<h2>Nothing<\/h2><p>none<\/p>/)
})
