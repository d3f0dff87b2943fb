;; The last form is the tool's result.
(local rolls (or parameters.rolls 2))

(fn roll [] (math.random 1 6))

(let [dice (fcollect [_ 1 rolls] (roll))]
  {:dice dice :sum (accumulate [sum 0 _ die (ipairs dice)] (+ sum die))})
