// Words that may not stand in sql/: every clock but lockstep.clock(), what PostgreSQL 14 does not have, what a
// distributed PostgreSQL or a pooler does not carry, savepoints in disguise, and JSON functions over payloads.
import type { Fault } from '../source/fault.ts'
import { cutSql } from '../source/sql.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'

interface Ban {
  readonly word: RegExp
  readonly why: string
  readonly instead: string
  readonly except?: RegExp
}

const CLOCKS =
  /\b(now\s*\(|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday\s*\(|current_timestamp|current_time\b|current_date|localtimestamp|localtime\b)/g

const BANS: readonly Ban[] = [
  {
    word: CLOCKS,
    why: 'reads a clock of its own',
    instead: 'read lockstep.clock() into a variable, in its own statement after the locks',
    except: /^sql\/functions\/clock\/clock\.sql$/,
  },
  { word: /\bmerge\s+into\b/g, why: 'MERGE is PostgreSQL 15+', instead: 'insert … on conflict, or update then insert' },
  {
    word: /\bnulls\s+not\s+distinct\b/g,
    why: 'NULLS NOT DISTINCT is PostgreSQL 15+',
    instead: 'a not-null column with a neutral value',
  },
  {
    word: /\breturning\s+(?:with\s*\(|old\.|new\.)/g,
    why: 'RETURNING OLD/NEW is PostgreSQL 18+',
    instead: 'read the old values under the lock first',
  },
  { word: /\bjson_table\s*\(/g, why: 'JSON_TABLE is PostgreSQL 17+', instead: 'pass text[] and unnest' },
  { word: /\bany_value\s*\(/g, why: 'any_value is PostgreSQL 16+', instead: 'min()' },
  { word: /\bis\s+(?:not\s+)?json\b/g, why: 'IS JSON is PostgreSQL 16+', instead: 'check JSON at the door' },
  {
    word: /\bregexp_(?:count|like|substr|instr)\s*\(/g,
    why: 'this function is PostgreSQL 15+',
    instead: 'regexp_match or substring',
  },
  { word: /\bdate_bin\s*\(.*\brandom_normal\b/g, why: 'random_normal is PostgreSQL 16+', instead: 'random()' },
  {
    word: /\b(?:pg_try_|pg_)advisory/g,
    why: 'advisory locks pile up and do not survive a pooler',
    instead: 'lock the row that is meant',
  },
  {
    word: /\bpg_notify\s*\(|\bnotify\s+[a-z]/g,
    why: 'NOTIFY in a committing transaction serialises all commits',
    instead: 'the coalesced notifier of the process, after the commit',
  },
  { word: /\b(?:ctid|xmin|xmax)\b/g, why: 'physical row identity is not portable', instead: 'the primary key' },
  { word: /\b(?:temp|temporary)\s+table\b/g, why: 'temp tables are session state', instead: 'arrays and unnest' },
  {
    word: /\bexception\s+when\b/g,
    why: 'a savepoint in disguise: 64 of them overflow the snapshot of everybody',
    instead: 'lock and judge before the first write, answer a verdict',
  },
  {
    word: /\b(?:references|foreign\s+key)\b/g,
    why: 'a foreign key locks shared rows for a whole user transaction',
    instead: 'no constraint; the owner removes what it held',
  },
  {
    word: /payload\s*::\s*jsonb?\b|\bjsonb?_[a-z_]+\s*\(\s*[a-z_.]*payload/g,
    why: 'a JSON function over a payload fails the whole call at one \\u0000',
    instead: 'carry payloads as text',
  },
  {
    word: /\bexecute\s+(?!on\b|function\b|procedure\b)(?:format\s*\(|[a-z_']+\s*(?:\|\||;|using\b|into\b))/g,
    why: 'dynamic SQL: names are values here',
    instead: 'a static statement with parameters',
  },
]

export function checkSqlWords(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!/^sql\/.*\.sql$/.test(file.path)) continue
    const { code } = cutSql(file.text)
    for (const ban of BANS) {
      if (ban.except?.test(file.path) === true) continue
      for (const match of code.matchAll(ban.word)) {
        faults.push({
          path: file.path,
          line: lineAt(code, match.index),
          what: `'${match[0].trim()}': ${ban.why}`,
          instead: ban.instead,
        })
      }
    }
    for (const match of file.text.matchAll(/'(?:now|today|yesterday|tomorrow)'/gi)) {
      faults.push({
        path: file.path,
        line: lineAt(file.text, match.index),
        what: `${match[0]} reads a clock of its own`,
        instead: 'read lockstep.clock() into a variable',
      })
    }
  }
  return faults
}
