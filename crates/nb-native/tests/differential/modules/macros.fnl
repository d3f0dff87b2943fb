;; Macros for Fennel programs.
(fn unless [condition ...]
  `(when (not ,condition) ,...))

(fn swap! [a b]
  `(let [saved# ,a]
     (set ,a ,b)
     (set ,b saved#)))

(fn checked [form]
  (assert-compile (list? form) "a list is expected" form)
  form)

{: unless : swap! : checked}
