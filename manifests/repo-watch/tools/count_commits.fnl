;; Commits per author are kept under `commits:NAME`; the host adds, so two pushes at once lose nothing.
(local push parameters.push)

(fn count-by-author [commits]
  (let [counts {}]
    (each [_ commit (ipairs commits)]
      (let [author (or commit.author.username commit.author.name)]
        (tset counts author (+ 1 (or (. counts author) 0)))))
    counts))

(fn branch [ref]
  (pick-values 1 (string.gsub ref "^refs/heads/" "")))

(let [counts (count-by-author (or push.commits []))
      totals {}
      lines []]
  (each [author count (pairs counts)]
    (tset totals author (nb.kv.increment (.. "commits:" author) count))
    (table.insert lines (.. author ": " count " now, " (. totals author) " in all")))
  (table.sort lines)
  {:title (.. push.pusher.name " pushed to " push.repository.full_name " (" (branch push.ref) ")")
   :text (table.concat lines "\n")
   :totals totals})
